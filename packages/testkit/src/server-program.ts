import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { systemClock } from "@slipway/kernel/clock";
import { afterAll, beforeAll } from "vitest";
import { freePort } from "./free-port.ts";
import { temporaryDirectory } from "./temporary.ts";

const READY_WITHIN_MS = 120_000;

/** Tells whether a program is in the PATH. */
export const programAvailable = (name: string): boolean =>
  spawnSync("sh", ["-c", 'command -v "$0"', name]).status === 0;

export interface ServerProgram {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
}

/**
 * Starts a server on a port of loopback for the tests of a file, with a directory of its own, and kills it with them.
 * Call it in a `describe`.
 */
export function serverProgram(
  make: (at: ServerProgram) => Promise<{ readonly command: string; readonly args: readonly string[] }>,
  ready: (at: ServerProgram) => Promise<boolean>,
): () => ServerProgram {
  let at: ServerProgram | undefined;
  let child: ChildProcess | undefined;
  let remove = () => Promise.resolve();
  beforeAll(async () => {
    const temporary = await temporaryDirectory();
    remove = temporary.remove;
    const port = await freePort();
    const place = { url: `http://127.0.0.1:${port}`, port, dir: temporary.path };
    const { command, args } = await make(place);
    const log: string[] = [];
    const started = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: place.dir,
      detached: true,
    });
    child = started;
    for (const stream of [started.stdout, started.stderr])
      stream?.on("data", (chunk: Buffer) => log.push(chunk.toString()));
    const since = systemClock.monotonic();
    while (!((await answers(port)) && (await ready(place)))) {
      const ended = started.exitCode !== null || started.signalCode !== null;
      if (ended || systemClock.monotonic() - since > READY_WITHIN_MS)
        throw new Error(`${command} does not answer: ${log.join("").slice(-2000)}`);
      await systemClock.sleep(100);
    }
    at = place;
  }, 150_000);
  afterAll(async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      // With its workers.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await ended;
    }
    await remove();
  });
  return () => {
    if (at === undefined) throw new Error("the server did not start");
    return at;
  };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
