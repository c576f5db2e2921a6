import type { Key, Screen } from "./screen.ts";

/** A cell: text, or something whose JSON and printed form differ is made text by the command. */
export type Cell = string;

/** A table in upstream's shape; `--json` prints it as upstream does. */
export interface Table {
  /** Name of its rows: `deployments`. Printed under the table with their number. */
  readonly content: string;
  /** Keys are upstream's JSON keys, values the titles: `{ team_s: "Team(s)" }`. */
  readonly header: Readonly<Record<string, string>>;
  /** Cells in the order of the header. An empty one is printed `-`. A cell may have several lines. */
  readonly rows: readonly (readonly Cell[])[];
  readonly notes?: readonly string[];
  /** One row and several in its footer, where `content` is no such word: `["instance", "instances"]`. */
  readonly rowNames?: readonly [one: string, several: string];
  /** How many it says there are, where that is not its rows; null: it says nothing. */
  readonly count?: number | null;
  /** Printed above it on a terminal. */
  readonly title?: string;
  /** A single thing, printed with its fields below each other, as `bosh env` does. */
  readonly transpose?: boolean;
  /** In a pipe the fields of a single thing keep their titles. Upstream prints the values alone. */
  readonly labeled?: boolean;
  /** Upstream pads cells in a pipe too. A table that it does not have need not. */
  readonly unpadded?: boolean;
}

/** Everything a user reads goes through here: terminal, pipe or `--json`. */
export interface Ui {
  /** stdout is a terminal, and what is printed may be rewritten. */
  readonly live: boolean;
  readonly columns: number;
  readonly json: boolean;
  /** A person is asked before something is changed. */
  readonly asks: boolean;
  /** A line of its own. */
  line(text: string): void;
  /** Prints text for readers at a terminal or of `--json` only, such as what was added. */
  aside(text: string): void;
  /** Text as it is: a manifest, a document. */
  block(text: string): void;
  table(table: Table): void;
  /** Prints a note to stderr; it is no part of the result. */
  note(text: string): void;
  /** `y` or the like. True at once with `-n`; without a terminal to ask, an error that names `-n`. */
  confirm(question: string): Promise<boolean>;
  /** A password or name; without a terminal an error that says which variable to set. */
  ask(question: string, options?: { readonly hidden?: boolean }): Promise<string>;
  /** Colours, or the text as it is where they are not wanted. */
  readonly paint: Paint;
  /** A line that stays in place and changes on a terminal; elsewhere a line when it begins and one when it ends. */
  progress(text: string): Progress;
  /** With `--json`, for who tells of changes until he is stopped: a document on a line of its own, at once. */
  stream(document: object): void;
  /** The whole window, to be closed again; undefined where there is no terminal. */
  screen(listener: ScreenListener): Promise<Screen | undefined>;
}

export interface ScreenListener {
  readonly onKey: (key: Key) => void;
  readonly onResize: () => void;
}

export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

export interface Progress {
  update(text: string): void;
  /** The line in its last form. */
  done(text?: string): void;
  failed(text?: string): void;
}
