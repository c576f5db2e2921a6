import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { eventually } from "@slipway/testkit/eventually";
import { SmallDisk } from "@slipway/testkit/small-disk";
import { passableDirectory } from "@slipway/testkit/temporary";
import { PROGRAMS } from "../../bosh-cli/testing/requirements.ts";

/** Ends before the test's own deadline, so that the output until then is reported. */
const WITHIN_MS = 600_000;

/** A `slipway` that runs, as leader of a process group, as a shell would start it. */
export class RunningSlipway {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  output = "";

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [PROGRAMS.slipway, ...args], {
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.output += chunk;
      });
    this.#ended = once(this.#child, "close");
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Until it has said it. */
  async says(text: string): Promise<void> {
    await eventually(
      `"${text}" from slipway`,
      () => this.output.includes(text) || this.#child.exitCode !== null || undefined,
      WITHIN_MS,
    );
    if (!this.output.includes(text)) throw new Error(`it ended without saying "${text}": ${this.output}`);
  }

  /** To the whole group, as a terminal does. */
  interrupt(): void {
    process.kill(-this.pid, "SIGINT");
  }

  /** Closes the terminal: its output is closed, and the process gets SIGHUP. */
  hangUp(): void {
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.destroy();
    this.#child.kill("SIGHUP");
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async end(): Promise<number | null> {
    await new Promise<void>((resolve, reject) => {
      const cancel = systemClock.after(WITHIN_MS, () =>
        reject(new Error(`it has not ended within ${WITHIN_MS} ms; it said: ${this.output}`)),
      );
      void this.#ended.then(() => {
        cancel();
        resolve();
      });
    });
    return this.#child.exitCode;
  }
}

/** A home of a test's own, and the program that works in it. */
export class CloudHome {
  readonly home: string;
  readonly #dir: string;
  readonly #started: RunningSlipway[] = [];
  readonly #small: SmallDisk | undefined;

  private constructor(dir: string, home: string, small?: SmallDisk) {
    this.#dir = dir;
    this.home = home;
    this.#small = small;
  }

  /** On a file system of its own that can be filled; needs root. */
  static async onSmallDisk(mib: number): Promise<CloudHome> {
    const small = await SmallDisk.open(mib);
    return new CloudHome(small.dir, join(small.dir, "home"), small);
  }

  /** Takes all the space there is on its disk. */
  async fill(name: string): Promise<void> {
    await this.#small?.fill(name);
  }

  async free(): Promise<void> {
    await this.#small?.free("home");
  }

  /** `below`: a directory that no other user may pass through. */
  static async open({ below }: { readonly below?: string } = {}): Promise<CloudHome> {
    const dir = await passableDirectory("up");
    if (below === undefined) return new CloudHome(dir, join(dir, "home"));
    await mkdir(join(dir, below), { mode: 0o700 });
    return new CloudHome(dir, join(dir, below, "home"));
  }

  start(...args: readonly string[]): RunningSlipway {
    const running = new RunningSlipway(args, {
      PATH: process.env.PATH ?? "",
      HOME: this.home,
      SLIPWAY_HOME: this.home,
    });
    this.#started.push(running);
    return running;
  }

  /** To its end: exit code and everything it said. */
  async run(...args: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
    const running = this.start(...args);
    const code = await running.end();
    return { code, said: running.output };
  }

  /** The one row of `status`. */
  async status(): Promise<Readonly<Record<string, string>>> {
    const { said } = await this.run("status", "--json");
    const { Tables } = JSON.parse(said) as { Tables: { Rows: Record<string, string>[] }[] };
    return Tables[0]?.Rows[0] ?? {};
  }

  text(name: string): Promise<string> {
    return readFile(join(this.home, name), "utf8");
  }

  /** Everything that runs on account of this home: it is named in its command line or its environment. */
  processes(): readonly string[] {
    return readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      const said = `${textOf(`/proc/${pid}/cmdline`)}\0${textOf(`/proc/${pid}/environ`)}`;
      return said.includes(this.home);
    });
  }

  async close(): Promise<void> {
    for (const running of this.#started) await running.kill();
    await this.run("down");
    if (this.#small !== undefined) await this.#small.close();
    else await rm(this.#dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
