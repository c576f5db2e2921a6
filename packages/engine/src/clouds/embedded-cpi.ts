import type { CpiClient, embed } from "@slipway/cpi-sdk/embed";
import type { Clock } from "@slipway/kernel/clock";
import { DeadlineExceeded } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import type { CpiRequest } from "@slipway/protocol/cpi/envelope";
import { CpiLost } from "./cloud.ts";
import type { CpiPort } from "./cpi-port.ts";
import { CpiAnswerUnusable } from "./errors.ts";
import { stoppedError } from "./exec-cpi.ts";
import { checkReply, inMethod } from "./reply.ts";

type Around = NonNullable<Parameters<typeof embed>[1]>;

export interface EmbeddedCpi {
  /** Name of the CPI in logs. */
  readonly name: string;
  readonly clock: Clock;
  /** Makes the client of one call: `(around) => embed(cpi, { ...around, config })`. */
  readonly open: (around: Pick<Around, "clock" | "signal" | "stream">) => CpiClient;
  /** Time that a call has for its cleanup after a stop request. */
  readonly graceMs?: number | undefined;
}

/** More than the half minute that the SDK gives a method after a stop request. */
const GRACE_MS = 40_000;

/** A CPI in this process, behind the same port: it gets and gives plain JSON, and is not waited for for ever. */
export function embeddedCpiPort(cpi: EmbeddedCpi): CpiPort {
  const command = `${cpi.name} (in this process)`;
  return {
    command,
    call: async (request, options) => {
      const { signal, deadlineMs } = options;
      signal?.throwIfAborted();
      const stop = new AbortController();
      const late = DeadlineExceeded({ what: `${request.method} of ${command}`, ms: deadlineMs });
      const cancels = [cpi.clock.after(deadlineMs, () => stop.abort(late))];
      const onAbort = () => stop.abort(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      const givenUp = new Promise<undefined>((resolve) => {
        const wait = () =>
          void cancels.push(cpi.clock.after(cpi.graceMs ?? GRACE_MS, () => resolve(undefined)));
        stop.signal.addEventListener("abort", wait, { once: true });
      });
      try {
        const client = cpi.open({ clock: cpi.clock, signal: stop.signal, stream: options.log });
        const answered = ask(client, request, command);
        const reply = await Promise.race([answered, givenUp]);
        if (reply !== undefined && (!stop.signal.aborted || reply.error === null)) return reply;
        answered.catch(() => undefined);
        const why = signal?.aborted ? "the task was cancelled" : `no answer within ${deadlineMs / 1000} s`;
        throw stoppedError(command, request, why, {
          said: reply?.error?.message === undefined ? undefined : options.hide(reply.error.message),
          cause: stop.signal.reason,
        });
      } finally {
        for (const cancel of cancels) cancel();
        signal?.removeEventListener("abort", onAbort);
      }
    },
  };
}

async function ask(client: CpiClient, request: CpiRequest, cpi: string) {
  let reply: unknown;
  try {
    reply = throughJson(await client.request(throughJson(request)));
  } catch (error) {
    const { method } = request;
    const cause = CpiAnswerUnusable({ cpi, method }, { cause: error });
    throw new CpiLost(method, `The CPI failed: ${messageTrail(error)} ${inMethod(request)}`, { cause });
  }
  return checkReply(reply, { cpi, request });
}

/** Neither side holds on to objects of the other. */
const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
