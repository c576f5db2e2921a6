import { BadRequest } from "../errors.ts";
import { lastLines } from "../scripts/bounded.ts";
import { type DrainCall, drainAnswer, firstDrain, nextDrain } from "../scripts/drain-call.ts";
import { NotAnInteger } from "../scripts/errors.ts";
import { type JobScript, jobsOf, runJobScript } from "../scripts/job-script.ts";
import { inParallel } from "../scripts/parallel.ts";
import type { Action, ActionCall } from "./action.ts";

/** Nothing is brought back from here on; then the drain scripts of all jobs say for how long to wait. */
export const drain: Action<"drain"> = async ({ type, spec }, call) => {
  const { services, signal } = call;
  if (type === "update" && (spec === undefined || spec === null)) {
    throw BadRequest({ why: "Drain update requires new spec" });
  }
  if (type !== "update" && type !== "shutdown") {
    throw BadRequest({ why: `Unexpected call with drain type '${type}'` });
  }
  if (type === "shutdown") await services.publish("shutdown", null);
  await services.supervisor.unmonitor(signal);
  const now = await services.spec.load();
  const [first, next] = [firstDrain(type, now, spec ?? undefined), nextDrain(now)];
  const drained = inParallel(jobsOf(now), "drain", services, (script) => drainOne(script, first, next, call));
  await untilCancelled(drained, signal);
  return 0;
};

async function drainOne(
  script: JobScript,
  first: DrainCall,
  next: DrainCall,
  { services, signal }: ActionCall,
): Promise<void> {
  for (let call = first; ; call = next) {
    const { code, stdout, stderr } = await runJobScript(script, { ...call, signal }, services);
    if (signal.aborted) return;
    const answer = drainAnswer(stdout);
    // Upstream looks at the number alone: a script that printed one has done its work, whatever its exit code.
    if (answer === undefined)
      throw NotAnInteger({ code, stdout: lastLines(stdout), stderr: lastLines(stderr) });
    await services.clock.sleep(answer.seconds * 1000, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (!answer.again || signal.aborted) return;
  }
}

/** Upstream's: a cancelled drain is over at once, while its scripts are still being ended. */
function untilCancelled(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelled = () => resolve();
    signal.addEventListener("abort", cancelled, { once: true });
    if (signal.aborted) cancelled();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancelled));
  });
}
