import { spawn } from "node:child_process";
import { constants } from "node:os";
import { Readable } from "node:stream";

/** A capture in one VM, as it runs. */
export interface Remote {
  readonly name: string;
  readonly packets: AsyncIterable<Buffer>;
  /** Its exit code and what it has said, once it has ended. */
  readonly ended: Promise<{ readonly code: number; readonly said: string }>;
  /** Asks it to end; what it has captured still comes. */
  end(): void;
  /** Stops reading: output that still comes does not keep the process alive. */
  leave(): void;
  /** Kills a process that does not end. Its children may hold its output, and are not waited for. */
  kill(): void;
}

/** Enough for an error; a VM that talks without end fills no memory. */
const MOST_SAID = 8192;

/** A Ctrl-C at the terminal comes to all that runs there; this one is to go on until its last packets have come. */
const DEAF = ["-c", 'trap "" INT; exec "$@"', "sh"];

export function runRemote(name: string, ssh: readonly string[], env: NodeJS.ProcessEnv): Remote {
  const child = spawn("sh", [...DEAF, "ssh", ...ssh], { stdio: ["pipe", "pipe", "pipe"], env });
  let said = "";
  const ended = new Promise<{ code: number; said: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) =>
      resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), said: said.trim() }),
    );
  });
  // Callers that await `ended` get the error; before one does, a rejection must not end the process.
  ended.catch(() => undefined);
  // Without file descriptors left, a child that did not start has no streams either.
  if (child.pid === undefined) {
    const nothing = () => undefined;
    return { name, packets: Readable.from([]), ended, end: nothing, leave: nothing, kill: nothing };
  }
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-MOST_SAID);
  });
  // It may be gone before it is asked to go.
  child.stdin.on("error", () => undefined);
  let isLeft = false;
  const leave = () => {
    isLeft = true;
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  };
  return {
    name,
    packets: piecesOf(child.stdout, () => isLeft),
    ended,
    end: () => void child.stdin.end(),
    leave,
    kill: () => {
      child.kill();
      leave();
    },
  };
}

/** Yields the pieces of a stream; its error after `leave` counts as its end. */
async function* piecesOf(stream: Readable, isLeft: () => boolean): AsyncIterable<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    if (!isLeft()) throw error;
  }
}
