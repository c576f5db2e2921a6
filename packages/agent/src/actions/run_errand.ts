import { NoErrand } from "../scripts/errors.ts";
import { hasScript, jobsOf, runJobScript } from "../scripts/job-script.ts";
import type { Action } from "./action.ts";

/** Most of each stream that is kept and handed over. */
const KEEP = 512 << 10;
/** A reply over NATS has 1 MiB for everything, and the exit code is the last thing to lose. */
const LARGEST_RESULT = 1_000_000;

/** Any exit code is a result. A cancelled errand has one, too: of the signal that ended it. */
export const runErrand: Action<"run_errand"> = async ({ job: wanted }, { services, signal }) => {
  const jobs = jobsOf(await services.spec.load());
  const job = wanted || jobs[0];
  if (job === undefined) throw NoErrand({ why: "At least one job template is required to run an errand" });
  if (!jobs.includes(job)) throw NoErrand({ why: `Could not find errand ${job}` });
  const script = { job, script: "run" };
  if (!(await hasScript(script, services))) throw NoErrand({ why: `the job ${job} has no bin/run` });
  const { code, stdout, stderr } = await runJobScript(script, { keep: KEEP, signal }, services);
  return fitting({ stdout, stderr, exit_code: code });
};

type Result = { readonly stdout: string; readonly stderr: string; readonly exit_code: number };

/** Cuts both streams in the middle until the result fits: escaped for JSON they may be several times as long. */
function fitting(result: Result): Result {
  let fit = result;
  for (let most = KEEP; Buffer.byteLength(JSON.stringify(fit)) > LARGEST_RESULT; most /= 2) {
    fit = { ...result, stdout: shortened(result.stdout, most), stderr: shortened(result.stderr, most) };
  }
  return fit;
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const [head, tail] = [text.slice(0, most / 4), text.slice(text.length - (most * 3) / 4)];
  return `${head}\n...[${text.length - head.length - tail.length} characters left out]...\n${tail}`;
}
