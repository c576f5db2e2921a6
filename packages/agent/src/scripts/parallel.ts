import { messageTrail } from "@slipway/kernel/errors";
import { ScriptsFailed } from "./errors.ts";
import { hasScript, type JobScript, type ScriptServices } from "./job-script.ts";

/** Runs a script of every job that has it, all at once. Rejects when the last has ended, naming those that failed. */
export async function inParallel(
  jobs: readonly string[],
  script: string,
  services: ScriptServices,
  run: (script: JobScript) => Promise<void>,
): Promise<void> {
  const outcomes = await Promise.all(
    jobs.map(async (job) => {
      if (!(await hasScript({ job, script }, services))) return undefined;
      return await run({ job, script }).then(
        () => ({ job, why: undefined }),
        (error: unknown) => ({ job, why: messageTrail(error) }),
      );
    }),
  );
  const failed = outcomes.flatMap((one) => (one?.why === undefined ? [] : [{ job: one.job, why: one.why }]));
  const passed = outcomes.flatMap((one) => (one !== undefined && one.why === undefined ? [one.job] : []));
  if (failed.length > 0) throw ScriptsFailed({ script, failed, passed });
}
