import type { ReadStream } from "node:tty";
import type { TerminalOutput } from "./terminal.ts";
import { widthOf } from "./text.ts";

/** Keys that the screen handles. */
export type Key = "quit" | "interrupt" | "up" | "down" | "page up" | "page down" | "home" | "end";

/** The whole window, redrawn in place. What was there before comes back when it is closed. */
export interface Screen {
  size(): { readonly columns: number; readonly rows: number };
  /** True if there is a keyboard. */
  readonly keys: boolean;
  draw(lines: readonly string[]): void;
  close(): void;
}

export interface ScreenOptions {
  readonly out: TerminalOutput;
  readonly input: ReadStream | undefined;
  readonly onKey: (key: Key) => void;
  readonly onResize: () => void;
}

const KEYS: Readonly<Record<string, Key>> = {
  q: "quit",
  Q: "quit",
  "\x03": "interrupt",
  "\x1b[A": "up",
  "\x1bOA": "up",
  k: "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  j: "down",
  "\x1b[5~": "page up",
  b: "page up",
  "\x1b[6~": "page down",
  " ": "page down",
  "\x1b[H": "home",
  "\x1bOH": "home",
  "\x1b[1~": "home",
  g: "home",
  "\x1b[F": "end",
  "\x1bOF": "end",
  "\x1b[4~": "end",
  G: "end",
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are control characters
const ONE_KEY = /\x1b[[O][0-9;]*[A-Za-z~]|./gs;

/** The alternate screen, without a cursor, and without lines that go on at the next. */
const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/** Emptied first: a terminal whose size has changed since may keep lines of it. */
const LEAVE = "\x1b[2J\x1b[?7h\x1b[?25h\x1b[?1049l";
/** A terminal that knows them shows all that is between at once. */
const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";

const COLUMNS = 80;
const ROWS = 24;

export function openScreen({ out, input, onKey, onResize }: ScreenOptions): Screen {
  let shown: readonly string[] = [];
  let open = true;
  const resized = () => {
    // The terminal has moved what was there.
    shown = [];
    out.write("\x1b[2J");
    onResize();
  };
  const pressed = (chunk: string) => {
    for (const [key] of chunk.matchAll(ONE_KEY)) {
      const known = KEYS[key];
      if (known !== undefined) onKey(known);
    }
  };
  const leave = () => {
    if (!open) return;
    open = false;
    out.write(LEAVE);
    input?.setRawMode(false);
  };
  // Also where the program is ended at once.
  process.once("exit", leave);
  out.write(ENTER);
  input?.setRawMode(true);
  input?.setEncoding("utf8");
  input?.on("data", pressed);
  input?.resume();
  const endResize = out.onResize?.(resized);
  return {
    keys: input !== undefined,
    size: () => ({ columns: out.columns || COLUMNS, rows: out.rows || ROWS }),
    draw: (lines) => {
      if (!open) return;
      const text = changed(shown, lines, out.columns || COLUMNS);
      shown = lines;
      if (text !== "") out.write(`${BEGIN}${text}${END}`);
    },
    close: () => {
      endResize?.();
      input?.off("data", pressed);
      input?.pause();
      process.off("exit", leave);
      leave();
    },
  };
}

/** Only lines that differ are written: what does not change does not flicker. */
function changed(before: readonly string[], after: readonly string[], columns: number): string {
  let text = "";
  for (let row = 0; row < Math.max(before.length, after.length); row++) {
    const line = after[row] ?? "";
    if (line === before[row]) continue;
    // Behind a full line the cursor still stands on its last column, which would be cleared.
    const rest = widthOf(line) < columns ? "\x1b[K" : "";
    text += `\x1b[${row + 1};1H${line}\x1b[0m${rest}`;
  }
  return text;
}
