import type { Clock } from "@slipway/kernel/clock";
import { readRequest } from "../dispatch/envelope.ts";
import type { HandledRequest, RequestHandler } from "../transports/transport.ts";
import type { StartupProblem } from "./startup-problem.ts";
import type { StartupProgress } from "./startup-progress.ts";

export interface GateOptions {
  readonly waiting: StartupProgress;
  readonly attention: StartupProblem;
  readonly clock: Clock;
  /** How the agent came by its settings. */
  readonly origin: () => string;
}

/**
 * How long a message is held back while the agent starts, which mostly takes less. Directors wait 45 seconds, so what is
 * let through at the end of it is still expected.
 */
const HOLD_MS = 30_000;

/** Messages by which a Director finds out about disks and puts them right. */
const ABOUT_DISKS = [
  "list_disk",
  "add_persistent_disk",
  "update_persistent_disk",
  "remove_persistent_disk",
  "mount_disk",
];

/** Messages that are accepted while the start still waits for a disk's device. Some of them are tasks. */
const ABOUT_MISSING_DISK = [
  ...ABOUT_DISKS.filter((method) => method !== "mount_disk"),
  ...["get_task", "cancel_task"],
];

/**
 * Stands before the dispatcher. Until the agent has started it answers by itself: `ping` with the cause, at once,
 * everything else after some patience. A Director repeats its ping only while the exception begins with
 * `restarting agent`, so that is how every cause begins.
 */
export class StartupGate {
  readonly #options: GateOptions;
  #inner: RequestHandler | undefined;
  #innerForDisks: RequestHandler | undefined;
  /** Callbacks of held messages, called when the gate opens. */
  readonly #look = new Set<() => void>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  open(inner: RequestHandler): void {
    this.#inner = inner;
    for (const look of [...this.#look]) look();
  }

  /**
   * Opens for disk messages before the agent has started, so that a Director can repair a disk that does not come back.
   */
  openForDisks(inner: RequestHandler): void {
    this.#innerForDisks = inner;
    for (const look of [...this.#look]) look();
  }

  readonly handler: RequestHandler = async (body, caller) =>
    this.#inner === undefined
      ? await this.#whileStarting(body, caller)
      : await this.#started(this.#inner, body, caller);

  async #whileStarting(body: string, caller: string): Promise<HandledRequest> {
    const request = readRequest(body);
    if (request === undefined) return { kind: "unreadable" };
    const { waiting, origin } = this.#options;
    if (request.method === "info") {
      const value = { api_version: 1, settings_origin: origin(), waiting: waiting.text() };
      return { kind: "reply", reply: { value }, replyTo: request.replyTo };
    }
    const inner = request.method === "ping" ? undefined : await this.#openedSoon(request.method);
    if (inner !== undefined) return await inner(body, caller);
    // An exception would count as the failure of the task, which the process before this one may have finished.
    if (request.method === "get_task") return { kind: "unreadable" };
    return exception(`restarting agent: ${waiting.text()}`, request.replyTo);
  }

  /** Returns the handler that answers this message now. */
  #for(method: string): RequestHandler | undefined {
    if (this.#inner !== undefined) return this.handler;
    return ABOUT_MISSING_DISK.includes(method) ? this.#innerForDisks : undefined;
  }

  async #openedSoon(method: string): Promise<RequestHandler | undefined> {
    let cancel = () => {};
    let look = () => {};
    await new Promise<void>((resolve) => {
      look = () => this.#for(method) !== undefined && resolve();
      this.#look.add(look);
      cancel = this.#options.clock.after(HOLD_MS, resolve);
      look();
    });
    this.#look.delete(look);
    cancel();
    return this.#for(method);
  }

  async #started(inner: RequestHandler, body: string, caller: string): Promise<HandledRequest> {
    const { attention } = this.#options;
    const problem = attention.problem();
    if (problem === undefined) return await inner(body, caller);
    const request = readRequest(body);
    const method = request?.method ?? "";
    if (ABOUT_DISKS.includes(method)) attention.acknowledge();
    const complaint = attention.pingError();
    if (method === "ping" && complaint !== undefined) return exception(complaint, request?.replyTo);
    const handled = await inner(body, caller);
    return method === "get_state" ? withProblem(handled, problem) : handled;
  }
}

const exception = (message: string, replyTo: string | undefined): HandledRequest => ({
  kind: "reply",
  reply: { exception: { message } },
  replyTo,
});

function withProblem(handled: HandledRequest, problem: string): HandledRequest {
  if (handled.kind !== "reply" || !("value" in handled.reply)) return handled;
  const { value } = handled.reply;
  if (typeof value !== "object" || value === null) return handled;
  return { ...handled, reply: { value: { ...value, problems: [problem] } } };
}
