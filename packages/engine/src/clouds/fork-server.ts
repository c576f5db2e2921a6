import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { ForkServerReport, StartOrder } from "./fork-server-program.ts";
import {
  type ProcessCommand,
  type ProcessExit,
  type StartedProcess,
  type StartProcess,
  startHere,
} from "./started-process.ts";

export interface ForkServerOptions {
  /** The bundled `fork-server-program.ts`. */
  readonly program: string;
  readonly clock: Clock;
  readonly random: Random;
}

const TICKET_BYTES = 16;
/** The ticket, and the number of the stream. */
const HEADER_LENGTH = 2 * TICKET_BYTES + 1;
/** A fork server that takes longer for one start is replaced. */
const START_MS = 10_000;
/** Pause after a fork server that could not be started. */
const RETRY_MS = 60_000;
/** Its heap is small: it only passes orders on. */
const FLAGS = ["--max-semi-space-size=1", "--max-old-space-size=32"];

/** One process, from its order until its end. */
class Call {
  readonly #streams: Socket[] = [];
  /** Undefined if the fork server cannot tell whether the process was started. It gets no input then, and is ended. */
  readonly started: Promise<StartedProcess | undefined>;
  readonly #exit: Promise<ProcessExit | undefined>;
  #noteExit: (exit: ProcessExit | undefined) => void = () => undefined;
  #noteStart: (process: StartedProcess | undefined) => void = () => undefined;
  #noteFailure: (error: Error) => void = () => undefined;
  #pid: number | undefined;
  #state: "starting" | "started" | "failed" = "starting";

  constructor() {
    this.#exit = new Promise((resolve) => {
      this.#noteExit = resolve;
    });
    this.started = new Promise((resolve, reject) => {
      this.#noteStart = resolve;
      this.#noteFailure = reject;
    });
  }

  takeStream(at: number, stream: Socket): void {
    if (this.#state !== "starting" || this.#streams[at] !== undefined) return void stream.destroy();
    this.#streams[at] = stream;
    this.#settle();
  }

  takePid(pid: number): void {
    this.#pid = pid;
    if (this.#state === "failed") killGroup(pid);
    else this.#settle();
  }

  /** Notes the end of the process; undefined if the fork server ended before it. */
  end(exit: ProcessExit | undefined): void {
    this.#noteExit(exit);
    if (exit === undefined) this.fail();
  }

  /** Gives up the start, with the error of the system if there is one. Does nothing once the process is started. */
  fail(error?: Error): void {
    if (this.#state !== "starting") return;
    this.#state = "failed";
    if (this.#pid !== undefined) killGroup(this.#pid);
    for (const stream of this.#streams) stream?.destroy();
    if (error === undefined) this.#noteStart(undefined);
    else this.#noteFailure(error);
  }

  #settle(): void {
    const [stdin, stdout, stderr] = this.#streams;
    const pid = this.#pid;
    if (pid === undefined || stdin === undefined || stdout === undefined || stderr === undefined) return;
    this.#state = "started";
    // Nothing comes this way but the end.
    stdin.resume();
    this.#noteStart({ pid, stdin, stdout, stderr, exit: this.#exit, unref: () => undefined });
  }
}

interface Serving {
  readonly start: (command: ProcessCommand) => Promise<StartedProcess | undefined>;
  readonly close: () => Promise<void>;
}

/**
 * Starts processes from a small process, so that a start costs the same however much memory this one has. Without a fork
 * server processes are started from here.
 */
export class ForkServer {
  readonly #options: ForkServerOptions;
  #serving: Promise<Serving | undefined> | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: ForkServerOptions) {
    this.#options = options;
  }

  readonly start: StartProcess = async (command) =>
    (await (await this.#open())?.start(command)) ?? (await startHere(command));

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#serving)?.close();
  }

  #open(): Promise<Serving | undefined> {
    const { clock } = this.#options;
    if (this.#closed || clock.monotonic() < this.#notBefore) return Promise.resolve(undefined);
    this.#serving ??= serve(this.#options, () => {
      this.#serving = undefined;
    }).catch(() => {
      this.#serving = undefined;
      this.#notBefore = clock.monotonic() + RETRY_MS;
      return undefined;
    });
    return this.#serving;
  }
}

async function serve(options: ForkServerOptions, onEnd: () => void): Promise<Serving> {
  // Only this user gets at the socket.
  const dir = await mkdtemp(join(tmpdir(), "slipway-"));
  const calls = new Map<string, Call>();
  let listener: Server | undefined;
  try {
    const path = join(dir, "s");
    listener = await listen(path, (ticket, at, stream) => {
      const call = calls.get(ticket);
      if (call === undefined) stream.destroy();
      else call.takeStream(at, stream);
    });
    return await launch(options, { path, dir, calls, listener, onEnd });
  } catch (error) {
    listener?.close();
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

function listen(
  path: string,
  onStream: (ticket: string, at: number, stream: Socket) => void,
): Promise<Server> {
  const listener = createServer((stream) => {
    stream.on("error", () => undefined);
    const onReadable = () => {
      const header = stream.read(HEADER_LENGTH) as Buffer | null;
      if (header === null) return;
      stream.off("readable", onReadable);
      const text = header.toString("latin1");
      onStream(text.slice(0, -1), Number(text.slice(-1)), stream);
    };
    stream.on("readable", onReadable);
  });
  return new Promise((resolve, reject) => {
    listener.on("error", reject);
    listener.listen(path, () => {
      listener.unref();
      resolve(listener);
    });
  });
}

interface Launch {
  readonly path: string;
  readonly dir: string;
  readonly calls: Map<string, Call>;
  readonly listener: Server;
  readonly onEnd: () => void;
}

async function launch({ program, clock, random }: ForkServerOptions, given: Launch): Promise<Serving> {
  const { path, dir, calls, listener, onEnd } = given;
  const child = spawn(process.execPath, [...FLAGS, program, path], {
    env: {},
    // A Ctrl-C is for this program only.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const byId = new Map<number, Call>();
  const ended = new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.on("exit", () => resolve());
  }).then(async () => {
    onEnd();
    listener.close();
    for (const call of byId.values()) call.end(undefined);
    await rm(dir, { recursive: true, force: true });
  });
  await new Promise<void>((resolve, reject) => {
    void ended.then(() => reject(new Error("the fork server ended")));
    child.on("message", (report: ForkServerReport) => {
      if ("ready" in report) resolve();
      else take(byId, report);
    });
  });
  child.unref();
  child.channel?.unref();

  let last = 0;
  const start = async (command: ProcessCommand) => {
    const id = ++last;
    const ticket = random.hex(TICKET_BYTES);
    const call = new Call();
    const cancel = clock.after(START_MS, () => {
      call.fail();
      child.kill("SIGKILL");
    });
    calls.set(ticket, call);
    byId.set(id, call);
    try {
      const order: StartOrder = { id, ticket, ...command };
      child.send(order, (error) => error !== null && call.fail());
      return await call.started;
    } finally {
      cancel();
      calls.delete(ticket);
    }
  };
  return {
    start,
    close: async () => {
      if (child.connected) child.disconnect();
      child.ref();
      await ended;
    },
  };
}

function take(calls: Map<number, Call>, report: Exclude<ForkServerReport, { readonly ready: true }>): void {
  const call = calls.get(report.id);
  if ("pid" in report) {
    call?.takePid(report.pid);
    return;
  }
  calls.delete(report.id);
  if ("failed" in report)
    call?.fail(Object.assign(new Error(report.failed.message), { code: report.failed.code }));
  else call?.end({ code: report.code, signal: report.signal });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone.
  }
}
