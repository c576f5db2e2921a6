import { monitFilesOf } from "../supervisor/job-files.ts";
import type { Action } from "./action.ts";

/** Takes over the monit files of the applied jobs and starts what they name. Nobody waits for the processes. */
export const start: Action<"start"> = async (_, { services, signal }) => {
  const { spec, paths, supervisor } = services;
  await supervisor.watch(await monitFilesOf(await spec.load(), paths), signal);
  await supervisor.start(signal);
  return "started";
};
