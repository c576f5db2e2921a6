import { lastLines } from "../scripts/bounded.ts";
import { ScriptEnded } from "../scripts/errors.ts";
import { checkedName, jobsOf, runJobScript } from "../scripts/job-script.ts";
import { inParallel } from "../scripts/parallel.ts";
import type { Action } from "./action.ts";

/** Runs one lifecycle script of every job that has it, all at once. No script anywhere is a success. */
export const runScript: Action<"run_script"> = async ({ script: given, options }, { services, signal }) => {
  const name = checkedName(given, "script");
  const env = Object.fromEntries(
    Object.entries(options?.env ?? {}).map(([key, value]) => [key, String(value)]),
  );
  const jobs = jobsOf(await services.spec.load());
  await inParallel(jobs, name, services, async (script) => {
    const { code, stderr } = await runJobScript(script, { env, logged: true, signal }, services);
    signal.throwIfAborted();
    if (code !== 0) throw ScriptEnded({ code, stderr: lastLines(stderr) });
  });
  return {};
};
