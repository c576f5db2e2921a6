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
  const ran = outcomes.filter((one) => one !== undefined);
  const failed = ran.filter(({ why }) => why !== undefined);
  if (failed.length === 0) return;
  throw ScriptsFailed({
    script,
    failures: failed.length,
    all: ran.length,
    failed: failed.map(({ job }) => job),
    passed: ran.filter(({ why }) => why === undefined).map(({ job }) => job),
    reasons: failed.map(({ job, why }) => `${job}: ${why}`),
  });
}
