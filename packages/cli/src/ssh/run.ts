import { spawn } from "node:child_process";
import { constants } from "node:os";
import { systemCode } from "@slipway/kernel/errors";
import { NoSsh } from "./errors.ts";

/** Its exit code; 128 + n when signal n ended it. */
type Ended = Promise<number>;

/** At this terminal, or wherever our own input and output are. */
export const runHere = (program: string, args: readonly string[], env: NodeJS.ProcessEnv): Ended =>
  ended(program, spawn(program, args, { stdio: "inherit", env }));

/** Runs a program and reports each line it prints; its input is empty. */
export function runWithLines(
  program: string,
  args: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly stop: AbortSignal },
  told: (stream: "stdout" | "stderr", line: string) => void,
): Ended {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: options.env });
  const over = ended(program, child);
  // Without file descriptors left, a child that did not start has no streams either.
  if (child.pid === undefined) return over;
  const end = () => void child.kill();
  options.stop.addEventListener("abort", end, { once: true });
  for (const stream of ["stdout", "stderr"] as const) {
    let rest = "";
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      // A terminal's lines end with both.
      for (const line of lines) told(stream, line.replace(/\r$/, ""));
    });
    child[stream].on("end", () => {
      if (rest !== "") told(stream, rest);
    });
  }
  return over.finally(() => options.stop.removeEventListener("abort", end));
}

function ended(program: string, child: ReturnType<typeof spawn>): Ended {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(systemCode(error) === "ENOENT" ? NoSsh({ program }) : error));
    child.once("close", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}
