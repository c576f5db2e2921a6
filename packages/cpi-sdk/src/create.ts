import { messageTrail } from "@slipway/kernel/errors";
import { camel } from "@slipway/protocol/cpi/method";
import type { CreateCall } from "./cpi.ts";
import { CpiFailure, cpiError } from "./errors.ts";
import { Memory, requestToken } from "./memory.ts";
import { callOf, handlerOf, type Running } from "./running.ts";

const DEFAULT_GRACE_MS = 30_000;

/** How what a create method made is asked for and removed again. */
export interface Kind {
  /** Method and argument that remove it. */
  readonly remove: readonly [method: string, argument: string];
  /** Method and argument that tell whether it exists. */
  readonly exists?: readonly [method: string, argument: string];
}

export interface Creation<R extends { readonly cid: string }> {
  readonly kind: Kind;
  readonly create: (call: CreateCall<unknown>) => Promise<R>;
  /** What must follow before the caller may know the cid. */
  readonly finish?: (made: R) => Promise<void>;
}

/**
 * Runs a create method: once per request, with a token to find the result by after a crash, and with everything
 * removed again if it fails.
 */
export async function runCreation<R extends { readonly cid: string }>(
  running: Running,
  creation: Creation<R>,
): Promise<R> {
  const token = requestToken(running.request) ?? running.random.hex(16);
  let clean = true;
  const work = (repeated: boolean) =>
    attempt(running, creation, token, repeated, (left) => {
      clean = !left;
    });
  if (running.stateDir === undefined || running.request.context.request_id == null) return await work(false);
  const memory = new Memory(running.stateDir, running.clock);
  const once = {
    token,
    method: running.method.name,
    stillThere: (made: R) => stillThere(running, creation.kind, made),
    work,
    clean: () => clean,
  };
  return await memory.once(once, running.signal);
}

async function attempt<R extends { readonly cid: string }>(
  running: Running,
  creation: Creation<R>,
  token: string,
  repeated: boolean,
  somethingLeft: (left: boolean) => void,
): Promise<R> {
  const undos: (() => Promise<void> | void)[] = [];
  let made: R | undefined;
  let failed = false;
  const call: CreateCall<unknown> = {
    ...callOf(running),
    token,
    repeated,
    cleanup: (undo) => undos.push(undo),
  };
  const whole = (async () => {
    made = await creation.create(call);
    // The call was given up on while the cloud was still at work: what came of it too late is removed.
    if (failed) await remove(running, creation.kind, made.cid);
    else await creation.finish?.(made);
    return made;
  })();
  try {
    return await Promise.race([whole, aborted(running.signal)]);
  } catch (error) {
    const grace = running.cpi.graceMs ?? DEFAULT_GRACE_MS;
    if (running.signal.aborted) await settled(whole, running, grace);
    failed = true;
    whole.catch(() => undefined);
    const problems = await cleanUp(running, creation.kind, made?.cid, undos, grace);
    somethingLeft(problems.length > 0);
    if (problems.length === 0) throw error;
    const base = error instanceof CpiFailure ? error : undefined;
    throw new CpiFailure(
      base?.wire === "VMCreationFailed" ? "CloudError" : (base?.wire ?? "CloudError"),
      `${messageTrail(error)}. Cleaning up failed too, something may be left behind (token ${token}): ${problems.join("; ")}`,
      { cause: error },
    );
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

/** Waits for the work to notice that it was told to stop, but not for ever. */
async function settled(work: Promise<unknown>, running: Running, graceMs: number): Promise<void> {
  const stop = new AbortController();
  await Promise.race([
    work.catch(() => undefined),
    running.clock.sleep(graceMs, stop.signal).catch(() => undefined),
  ]);
  stop.abort();
}

/** Removes the thing itself first, then whatever the author registered, last first. Says what did not work. */
async function cleanUp(
  running: Running,
  kind: Kind,
  cid: string | undefined,
  undos: readonly (() => Promise<void> | void)[],
  graceMs: number,
): Promise<string[]> {
  const steps = [...undos].reverse();
  if (cid !== undefined) steps.unshift(() => remove(running, kind, cid));
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
        .then(() => undefined, messageTrail),
      late,
    ]);
    stop.abort();
    if (problem === undefined) continue;
    problems.push(problem);
    running.log.error(`cleanup failed: ${problem}`);
  }
  return problems;
}

async function remove(running: Running, kind: Kind, cid: string): Promise<void> {
  const [method, argument] = kind.remove;
  const handler = handlerOf(running.cpi, camel(method));
  if (handler === undefined) throw cpiError(`the CPI has no ${method} to remove '${cid}' with`);
  running.log.warn(`${running.method.name} failed: removing '${cid}'`);
  try {
    // Not with the call's own signal: that one is aborted when the deadline brought us here.
    await handler({ [argument]: cid }, { ...callOf(running), signal: new AbortController().signal });
  } catch (error) {
    const gone = error instanceof CpiFailure && /NotFound$/.test(error.wire);
    if (!gone) throw error;
  }
}

async function stillThere(running: Running, kind: Kind, made: { readonly cid: string }): Promise<boolean> {
  if (kind.exists === undefined) return true;
  const [method, argument] = kind.exists;
  const handler = handlerOf(running.cpi, camel(method));
  return handler === undefined || (await handler({ [argument]: made.cid }, callOf(running))) === true;
}
