import { messageTrail } from "@slipway/kernel/errors";
import { camel } from "@slipway/protocol/cpi/method";
import { check } from "@slipway/protocol/schema/check";
import type { Schema } from "@slipway/protocol/schema/marks";
import type { CreateCall } from "./cpi.ts";
import { CpiFailure, cpiError, failureText } from "./errors.ts";
import { RequestResults, requestToken } from "./request-results.ts";
import { callOf, handlerOf, type RunningCall } from "./running-call.ts";

/** Checks what an author gave back, before anybody relies on it. */
export function accept<const S extends Schema>(schema: S, value: unknown, what: string) {
  const checked = check(schema, value, what);
  if (!checked.ok) throw cpiError(`the CPI broke its contract: ${checked.problems.join("; ")}`);
  return checked.value;
}

type Undo = () => Promise<void> | void;

const DEFAULT_GRACE_MS = 30_000;

/** How what a create method made is asked for and removed again. */
export interface ResourceKind {
  /** Method and argument that remove it. */
  readonly remove: readonly [method: string, argument: string];
  /** Method and argument that tell whether it exists. */
  readonly exists?: readonly [method: string, argument: string];
}

export interface Creation<R extends { readonly cid: string }> {
  readonly kind: ResourceKind;
  readonly create: (call: CreateCall<unknown>) => Promise<R>;
  /** Runs after the creation; the caller may learn the cid only when it has succeeded. */
  readonly finish?: (made: R) => Promise<void>;
  /** Takes back what `finish` may have done, after the thing itself is removed. Best effort. */
  readonly unfinish?: (made: R) => Promise<void>;
}

/**
 * Runs a create method: once per request, with a token to find the result by after a crash, and with everything
 * removed again if it fails.
 */
export async function runCreation<R extends { readonly cid: string }>(
  running: RunningCall,
  creation: Creation<R>,
): Promise<R> {
  const token = requestToken(running.request) ?? running.random.hex(16);
  let clean = true;
  const work = (repeated: boolean) =>
    attempt(running, creation, token, repeated, (left) => {
      clean = !left;
    });
  if (running.stateDir === undefined || running.request.context.request_id == null) return await work(false);
  const memory = new RequestResults(running.stateDir, running.clock);
  const once = {
    token,
    method: running.method.name,
    stillThere: (made: R) => stillThere(running, creation.kind, made),
    work,
    clean: () => clean,
    notKept: (error: unknown) => running.log.warn(`the result is not remembered: ${messageTrail(error)}`),
  };
  return await memory.once(once, running.signal);
}

async function attempt<R extends { readonly cid: string }>(
  running: RunningCall,
  creation: Creation<R>,
  token: string,
  repeated: boolean,
  somethingLeft: (left: boolean) => void,
): Promise<R> {
  const undos: Undo[] = [];
  let made: R | undefined;
  let failed = false;
  const call: CreateCall<unknown> = {
    ...callOf(running),
    token,
    repeated,
    cleanup: (undo) => void undos.push(undo),
  };
  const whole = (async () => {
    made = await creation.create(call);
    if (!failed) await creation.finish?.(made);
    return made;
  })();
  /** Undoes what there is by now, each thing once, and says what of it may be left. */
  const undo = async (graceMs: number): Promise<string[]> => {
    const own = undos.splice(0).reverse();
    const thing = made;
    made = undefined;
    if (thing === undefined) return await cleanUp(running, own, graceMs);
    const left = await cleanUp(running, [() => remove(running, creation.kind, thing.cid)], graceMs);
    // With the thing itself gone, an undo that meant the same finds nothing: that is logged and no cause for alarm.
    const more = await cleanUp(running, own, graceMs);
    await creation.unfinish?.(thing).catch((error: unknown) => running.log.warn(messageTrail(error)));
    return left.length > 0 ? [...left, ...more] : [];
  };
  try {
    return await Promise.race([whole, aborted(running.signal)]);
  } catch (error) {
    const grace = running.cpi.graceMs ?? DEFAULT_GRACE_MS;
    const stopped = !running.signal.aborted || (await settled(whole, running, grace));
    failed = true;
    const problems = await undo(grace);
    if (!stopped) {
      problems.push(`it was still at work ${grace / 1000} s after it was told to stop`);
      // A late result is removed as well, if the process lives that long.
      void whole.catch(() => undefined).then(() => undo(grace));
    }
    somethingLeft(problems.length > 0);
    if (problems.length === 0) throw error;
    const wire = error instanceof CpiFailure ? error.wire : "CloudError";
    throw new CpiFailure(
      // VMCreationFailed promises that everything is removed.
      wire === "VMCreationFailed" ? "CloudError" : wire,
      `${failureText(error)} Cleaning up failed too, something may be left behind (token ${token}): ${problems.join("; ")}`,
      { cause: error },
    );
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

/** Waits up to the grace for aborted work to end, and reports whether it did. */
async function settled(work: Promise<unknown>, running: RunningCall, graceMs: number): Promise<boolean> {
  const stop = new AbortController();
  const ended = await Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    running.clock.sleep(graceMs, stop.signal).then(
      () => false,
      () => false,
    ),
  ]);
  stop.abort();
  return ended;
}

/** The thing itself first, then whatever the author registered, last first. Says what did not work. */
async function cleanUp(running: RunningCall, steps: readonly Undo[], graceMs: number): Promise<string[]> {
  const problems: string[] = [];
  for (const step of steps) {
    const stop = new AbortController();
    const late = running.clock.sleep(graceMs, stop.signal).then(
      () => "cleanup took too long",
      () => undefined,
    );
    const problem = await Promise.race([
      Promise.resolve()
        .then(step)
        .then(
          () => undefined,
          (error: unknown) => (isGone(error) ? undefined : messageTrail(error)),
        ),
      late,
    ]);
    stop.abort();
    if (problem === undefined) continue;
    problems.push(problem);
    running.log.error(`cleanup failed: ${problem}`);
  }
  return problems;
}

/** Undoing what is gone already has succeeded. */
const isGone = (error: unknown) => error instanceof CpiFailure && /NotFound$/.test(error.wire);

async function remove(running: RunningCall, kind: ResourceKind, cid: string): Promise<void> {
  const [method, argument] = kind.remove;
  const handler = handlerOf(running.cpi, camel(method));
  if (handler === undefined) throw cpiError(`the CPI has no ${method} to remove '${cid}' with`);
  running.log.warn(`${running.method.name} failed: removing '${cid}'`);
  // Not with the call's own signal: that one is aborted when the deadline brought us here.
  await handler({ [argument]: cid }, { ...callOf(running), signal: new AbortController().signal });
}

async function stillThere(
  running: RunningCall,
  kind: ResourceKind,
  made: { readonly cid: string },
): Promise<boolean> {
  if (kind.exists === undefined) return true;
  const [method, argument] = kind.exists;
  const handler = handlerOf(running.cpi, camel(method));
  if (handler === undefined) return true;
  const asked = Promise.resolve(handler({ [argument]: made.cid }, callOf(running)));
  return (await Promise.race([asked, aborted(running.signal)])) === true;
}
