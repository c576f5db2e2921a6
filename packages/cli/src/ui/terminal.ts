import type { ReadStream } from "node:tty";
import pc from "picocolors";
import { CannotAsk, CannotAskFor } from "./errors.ts";
import { renderJson } from "./render-json.ts";
import { renderTable, withColumns } from "./render-table.ts";
import type { Screen } from "./screen.ts";
import { cut, printable } from "./text.ts";
import type { Paint, Progress, ScreenListener, Table, Ui } from "./ui.ts";

export interface TerminalOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /** The returned function ends it. */
  onResize?(listener: () => void): () => void;
}

export interface TerminalOptions {
  readonly out: TerminalOutput;
  readonly err: TerminalOutput;
  readonly input: ReadStream | undefined;
  readonly stop: AbortSignal;
  readonly json: boolean;
  /** `--tty`: print as to a terminal, whatever stdout is. */
  readonly tty: boolean;
  readonly color: boolean;
  readonly nonInteractive: boolean;
  /** `--column` */
  readonly only: readonly string[];
  /** `COLUMNS`, where stdout does not know. */
  readonly columns: number | undefined;
}

/** Terminal, pipe or `--json`, which is collected and printed by `close`. */
export class Terminal implements Ui {
  readonly live: boolean;
  readonly json: boolean;
  readonly asks: boolean;
  readonly columns: number;
  readonly paint: Paint;
  readonly #options: TerminalOptions;
  readonly #dressed: boolean;
  readonly #tables: Table[] = [];
  readonly #blocks: string[] = [];
  readonly #lines: string[] = [];
  /** Position of the cursor after the last output. `#gap`: the next paragraph begins after an empty line. */
  #at: "start" | "line" | "middle" = "start";
  #gap = false;
  #moving: string | undefined;
  /** The number of a task stands alone on the line. */
  #task = false;
  /** JSON goes out as it comes, one document a line. */
  #streaming = false;

  constructor(options: TerminalOptions) {
    this.#options = options;
    const terminal = options.out.isTTY === true;
    this.json = options.json;
    this.asks = !options.nonInteractive && this.#input() !== undefined;
    this.live = terminal && !options.json;
    this.#dressed = (terminal || options.tty) && !options.json;
    // A terminal that does not know its width says 0.
    this.columns = (terminal && options.out.columns) || options.columns || Number.POSITIVE_INFINITY;
    const { bold, dim, green, red, yellow, cyan } = pc.createColors(this.#dressed && options.color);
    this.paint = { bold, dim, green, red, yellow, cyan };
  }

  line(text: string): void {
    if (this.json) this.#lines.push(text);
    else this.#put(`${printable(text)}\n`);
  }

  block(text: string): void {
    if (this.json) this.#blocks.push(text);
    else this.#put(this.#dressed ? printable(text) : text);
  }

  /** Prints a part of a line or several, from a task's output as it comes. A new line begins with its line end. */
  chunk(text: string): void {
    if (this.json) this.#blocks.push(text);
    else if (this.#at === "start") this.#put(text.replace(/^\n/, ""));
    else this.#put(this.#task ? `\n${text}` : text);
  }

  taskBegins(task: number): void {
    if (this.json) this.#lines.push(`Task ${task}`);
    if (!this.#dressed) return;
    this.#paragraph(`Task ${task}`);
    this.#gap = false;
    this.#task = true;
  }

  taskEnds(task: number, state: string, summary: string | undefined): void {
    const end = summary === undefined ? dotted(state) : `${summary}Task ${task} ${state}`;
    if (this.json) this.#lines.push(end);
    else if (summary !== undefined) {
      if (this.#at === "middle") this.#put("\n");
      if (this.#dressed) this.#paragraph(`${end}\n`);
    } else if (this.#dressed) {
      this.#put(`${end}\n`);
      this.#gap = true;
    }
  }

  /** Prints text for readers at a terminal or of `--json` only: the environment in use, or a success. */
  aside(text: string): void {
    if (this.json) this.#lines.push(text);
    else if (this.#dressed) this.#paragraph(`${printable(text)}\n`);
  }

  table(table: Table): void {
    const shown = withColumns(table, this.#options.only);
    if (this.json) this.#tables.push(shown);
    else
      this.#paragraph(
        renderTable(shown, {
          kind: this.#dressed ? "terminal" : "pipe",
          columns: this.columns,
          bold: this.paint.bold,
        }),
      );
  }

  note(text: string): void {
    if (this.#at === "middle") this.#put("\n");
    this.#clear();
    this.#options.err.write(`${printable(text)}\n`);
    this.#redraw();
  }

  stream(document: object): void {
    this.#streaming = true;
    this.#options.out.write(`${JSON.stringify(document)}\n`);
  }

  async screen(listener: ScreenListener): Promise<Screen | undefined> {
    if (!this.live) return undefined;
    const { openScreen } = await import("./screen.ts");
    return openScreen({ ...listener, out: this.#options.out, input: this.#input() });
  }

  /** Reports the failure of the whole command. */
  failure(text: string, code: number): void {
    if (this.#streaming) this.stream({ error: text, exit_code: code });
    else if (this.json) {
      this.#lines.push(text, `Exit code ${code}`);
    } else this.#complain(text);
  }

  #complain(text: string): void {
    this.#clear();
    if (this.#at === "middle") this.#put("\n");
    const { red } = pc.createColors(this.#options.err.isTTY === true && this.#options.color);
    const [first = "", ...rest] = printable(text).split("\n");
    this.#options.err.write(`${[red(first), ...rest].join("\n")}\n`);
  }

  async confirm(question: string): Promise<boolean> {
    if (this.#options.nonInteractive) return true;
    const input = this.#input();
    if (input === undefined) throw CannotAsk({ question });
    const { askLine } = await import("./prompt.ts");
    const answer = await askLine(`${question} [yN]: `, this.#streams(input));
    return /^(y|yes)$/i.test(answer.trim());
  }

  async ask(question: string, { hidden = false }: { readonly hidden?: boolean } = {}): Promise<string> {
    const input = this.#options.nonInteractive ? undefined : this.#input();
    if (input === undefined) throw CannotAskFor({ what: question });
    const { askHidden, askLine } = await import("./prompt.ts");
    const streams = this.#streams(input);
    return hidden ? await askHidden(`${question}: `, streams) : await askLine(`${question}: `, streams);
  }

  progress(text: string): Progress {
    const end = (mark: string, last: string) => {
      if (this.#moving !== undefined) {
        this.#clear();
        this.#moving = undefined;
      }
      this.line(`${mark}${last}`);
    };
    let now = text;
    if (this.live) this.#show(now);
    else if (!this.json) this.line(now);
    return {
      update: (next) => {
        now = next;
        if (this.live) this.#show(now);
      },
      done: (last) => end(this.live ? `${this.paint.green("✓")} ` : "", last ?? now),
      failed: (last) => end(this.live ? `${this.paint.red("✗")} ` : "", last ?? now),
    };
  }

  /** Once, at the end. */
  close(): void {
    if (this.#streaming) return;
    if (this.json)
      this.#options.out.write(renderJson({ tables: this.#tables, blocks: this.#blocks, lines: this.#lines }));
    else if (this.#at === "middle") this.#put("\n");
  }

  #input(): ReadStream | undefined {
    const { input } = this.#options;
    return input?.isTTY === true && !this.json ? input : undefined;
  }

  #streams(input: ReadStream) {
    if (this.#gap) this.#options.out.write("\n");
    this.#gap = true;
    const write = (text: string) => void this.#options.err.write(text);
    return { input, write, stop: this.#options.stop };
  }

  #paragraph(text: string): void {
    this.#gap = this.#at !== "start";
    this.#put(text);
    this.#gap = true;
  }

  #put(text: string): void {
    if (text === "") return;
    this.#clear();
    this.#task = false;
    const before = this.#gap ? (this.#at === "middle" ? "\n\n" : "\n") : "";
    this.#gap = false;
    this.#options.out.write(before + text);
    this.#at = text.endsWith("\n") ? "line" : "middle";
    this.#redraw();
  }

  #show(text: string): void {
    this.#clear();
    this.#moving = cut(printable(text), this.columns - 1);
    this.#redraw();
  }

  #clear(): void {
    if (this.#moving !== undefined) this.#options.out.write("\r\x1b[2K");
  }

  #redraw(): void {
    if (this.#moving !== undefined) this.#options.out.write(this.#moving);
  }
}

/** Returns the end of a task's line as upstream prints it: `Task 4. Done` */
const dotted = (state: string) => `. ${state.charAt(0).toUpperCase()}${state.slice(1)}`;
