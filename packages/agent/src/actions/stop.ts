import type { Action } from "./action.ts";

export const stop: Action<"stop"> = async (_, { services }) => {
  await services.supervisor.stop();
  return "stopped";
};
