import { createInterface } from "node:readline";
import type { ReadStream } from "node:tty";
import { Interrupted } from "./errors.ts";

export interface PromptStreams {
  readonly input: ReadStream;
  write(text: string): void;
  readonly stop: AbortSignal;
}

/** One line typed at a terminal. */
export async function askLine(question: string, { input, write, stop }: PromptStreams): Promise<string> {
  const lines = createInterface({ input, terminal: false });
  write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      if (stop.aborted) reject(new Interrupted());
      lines.once("line", resolve);
      lines.once("close", () => reject(new Interrupted()));
      stop.addEventListener("abort", () => reject(new Interrupted()), { once: true });
    });
  } finally {
    lines.close();
    input.pause();
  }
}

/** One line that the terminal does not show. */
export async function askHidden(question: string, { input, write, stop }: PromptStreams): Promise<string> {
  // Before the question: who types ahead is not shown either.
  input.setRawMode(true);
  write(question);
  input.setEncoding("utf8");
  input.resume();
  let typed = "";
  let forget = () => {};
  try {
    return await new Promise<string>((resolve, reject) => {
      const onAbort = () => reject(new Interrupted());
      if (stop.aborted) onAbort();
      const onData = (chunk: string) => {
        for (const key of chunk) {
          if (key === "\r" || key === "\n") return resolve(typed);
          // Ctrl-C, and Ctrl-D with nothing typed.
          if (key === "\x03" || (key === "\x04" && typed === "")) return reject(new Interrupted());
          if (key === "\x7f" || key === "\b") typed = [...typed].slice(0, -1).join("");
          else if (key === "\x15") typed = "";
          else if (key >= " ") typed += key;
        }
      };
      const onEnd = () => reject(new Interrupted());
      input.on("data", onData);
      input.once("end", onEnd);
      stop.addEventListener("abort", onAbort, { once: true });
      forget = () => {
        input.off("data", onData);
        input.off("end", onEnd);
        stop.removeEventListener("abort", onAbort);
      };
    });
  } finally {
    forget();
    input.setRawMode(false);
    input.pause();
    write("\n");
  }
}
