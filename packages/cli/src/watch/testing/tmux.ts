import { systemExec } from "@slipway/kernel/exec";

export const hasTmux = async (): Promise<boolean> =>
  (await systemExec("sh", ["-c", "command -v tmux"])).code === 0;

/** A terminal that a program draws on, and that can be looked at. The server is its own and ends with it. */
export class Tmux {
  readonly #place: string;
  /** Path of the socket, new at each start: a server that is ending may still accept a connection, and drop it. */
  #socket = "";
  #starts = 0;

  constructor(place: string) {
    this.#place = place;
  }

  /** Starts a program in a terminal, with `env` as its environment. */
  async start(command: string, env: Readonly<Record<string, string>>, size: Size): Promise<void> {
    this.#socket = `${this.#place}-${++this.#starts}`;
    const set = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const where = ["-x", String(size.columns), "-y", String(size.rows)];
    // The shell stays when the program has ended, so that what it left can be seen.
    await this.#run(
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      ...where,
      ...set,
      `${command}; echo ended with $?; cat`,
    );
  }

  async resize({ columns, rows }: Size): Promise<void> {
    await this.#run("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** `q`, `Down`, `C-c`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#run("send-keys", ...keys);
  }

  /** Returns the text of the screen; with `-e`, including its colors. */
  async screen(...how: readonly "-e"[]): Promise<string> {
    return await this.#run("capture-pane", "-p", ...how);
  }

  async close(): Promise<void> {
    await systemExec("tmux", ["-S", this.#socket, "kill-server"]);
  }

  async #run(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await systemExec("tmux", ["-u", "-S", this.#socket, ...args], {
      env: { PATH: process.env.PATH ?? "", TERM: "xterm-256color", LANG: "C.UTF-8" },
    });
    if (code !== 0) throw new Error(`tmux ${args[0]} ended with ${code}: ${stderr}`);
    return stdout;
  }
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}
