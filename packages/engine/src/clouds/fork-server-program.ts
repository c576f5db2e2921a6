import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";

/** Order to start a program. */
export interface StartOrder {
  readonly id: number;
  /** Random text by which the starter recognizes the streams of this program. */
  readonly ticket: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Result of an order. `ready` comes first, once. */
export type ForkServerReport =
  | { readonly ready: true }
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly failed: { readonly message: string; readonly code: string | undefined } }
  | { readonly id: number; readonly code: number | null; readonly signal: NodeJS.Signals | null };

const [, , socketPath = ""] = process.argv;

function report(one: ForkServerReport): void {
  if (process.connected) process.send?.(one);
}

/** Opens one stream of a program: the starter reads the ticket, and everything after it is the program's. */
const openStream = (ticket: string, at: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const stream = connect(socketPath);
    stream.once("error", reject);
    stream.write(`${ticket}${at}`, () => {
      stream.off("error", reject);
      stream.on("error", () => undefined);
      resolve(stream);
    });
  });

async function start({ id, ticket, program, args, env }: StartOrder): Promise<void> {
  const opened = await Promise.allSettled([0, 1, 2].map((at) => openStream(ticket, at)));
  const streams = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const fail = (error: NodeJS.ErrnoException) =>
    report({ id, failed: { message: error.message, code: error.code } });
  try {
    const refused = opened.find((one) => one.status === "rejected");
    if (refused !== undefined) throw refused.reason;
    const child = spawn(program, args, { env, detached: true, stdio: streams });
    child.on("error", fail);
    child.on("exit", (code, signal) => report({ id, code, signal }));
    if (child.pid !== undefined) report({ id, pid: child.pid });
  } catch (error) {
    fail(error as NodeJS.ErrnoException);
  } finally {
    // The program has its own descriptors of them.
    for (const stream of streams) stream.destroy();
  }
}

// A service manager may ask every process of the service to end. This one ends with its starter.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
process.on("message", (order: StartOrder) => void start(order));
process.on("disconnect", () => {
  // A starter that was killed leaves the directory of its socket.
  rmSync(dirname(socketPath), { recursive: true, force: true });
  process.exit(0);
});
report({ ready: true });
