import { spawn } from "node:child_process";
import { once } from "node:events";
import { systemExec } from "@slipway/kernel/exec";
import { shellWord } from "@slipway/kernel/shell";

/** One row of a table, by the CLI's own column names. */
export type TableRow = Readonly<Record<string, string>>;

/** Output of a command with `--json`. */
export interface Said {
  readonly code: number;
  readonly rows: readonly TableRow[];
  readonly lines: readonly string[];
  /** Everything that is not a table, in one text. */
  readonly text: string;
  readonly blocks: string;
  /** Id of the task that the command started or followed. */
  readonly task: string;
}

export interface BoshLogin {
  readonly url: string;
  readonly ca: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Home directory, in which the CLI keeps its settings. */
  readonly home: string;
}

const KEEP = 16 * 1024 * 1024;

/** The real CLI, one process per command. */
export class Bosh {
  readonly #program: string;
  readonly #login: BoshLogin;

  constructor(program: string, login: BoshLogin) {
    this.#program = program;
    this.#login = login;
  }

  as(user: string | undefined, password: string | undefined): Bosh {
    return new Bosh(this.#program, { ...this.#login, user, password });
  }

  /** A command that succeeds. */
  async run(...args: readonly string[]): Promise<Said> {
    const said = await this.say(...args);
    if (said.code !== 0) throw new Error(`bosh ${args.join(" ")} ended with ${said.code}:\n${said.text}`);
    return said;
  }

  /** A command that does not; its words. */
  async refused(...args: readonly string[]): Promise<string> {
    const said = await this.say(...args);
    if (said.code === 0) throw new Error(`bosh ${args.join(" ")} succeeded:\n${said.text}`);
    return said.text;
  }

  async rows(...args: readonly string[]): Promise<readonly TableRow[]> {
    return (await this.run(...args)).rows;
  }

  async say(...args: readonly string[]): Promise<Said> {
    const { code, stdout, stderr } = await systemExec(this.#program, [...args, "--json"], {
      keep: KEEP,
      env: { ...this.env, BOSH_NON_INTERACTIVE: "true" },
    });
    return { code, ...read(stdout, stderr) };
  }

  /** A command that asks, at a terminal: each answer is typed when its question stands there. What was shown. */
  async typed(
    answers: readonly (readonly [question: string, answer: string])[],
    ...args: readonly string[]
  ): Promise<{ code: number | null; shown: string }> {
    const command = [this.#program, ...args].map(shellWord).join(" ");
    // Without a width it writes one letter a line.
    const child = spawn("script", ["-qec", `stty cols 200; ${command}`, "/dev/null"], {
      env: { ...this.env, PATH: process.env.PATH ?? "", TERM: "xterm" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    let shown = "";
    let from = 0;
    const left = [...answers];
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      shown += chunk;
      const [next] = left;
      if (next === undefined || !shown.slice(from).includes(next[0])) return;
      from = shown.length;
      left.shift();
      child.stdin.write(`${next[1]}\r`);
    });
    const [code] = (await once(child, "close")) as [number | null];
    return { code, shown };
  }

  /** Environment variables with the Director and the credentials, for any program that reads them. */
  get env(): Readonly<Record<string, string>> {
    const { url, ca, user, password, home } = this.#login;
    return {
      HOME: home,
      BOSH_ENVIRONMENT: url,
      BOSH_CA_CERT: ca,
      ...(user !== undefined && { BOSH_CLIENT: user }),
      ...(password !== undefined && { BOSH_CLIENT_SECRET: password }),
    };
  }
}

interface Printed {
  readonly Tables: readonly { readonly Rows: readonly TableRow[] | null }[] | null;
  readonly Blocks: readonly string[] | null;
  readonly Lines: readonly string[] | null;
}

function read(stdout: string, stderr: string): Omit<Said, "code"> {
  let printed: Printed;
  try {
    printed = JSON.parse(stdout) as Printed;
  } catch {
    throw new Error(`the CLI printed no JSON:\n${stdout}\n${stderr}`);
  }
  const rows = (printed.Tables ?? []).flatMap(({ Rows }) => Rows ?? []);
  const blocks = (printed.Blocks ?? []).join("");
  const lines = printed.Lines ?? [];
  const text = [blocks, ...lines, stderr].join("\n");
  return { rows, lines, blocks, text, task: /^Task (\d+)$/m.exec(lines.join("\n"))?.[1] ?? "" };
}
