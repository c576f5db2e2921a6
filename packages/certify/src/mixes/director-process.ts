import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { DirectorDidNotStart } from "../errors.ts";

const STARTS_WITHIN_MS = 60_000;
const STOPS_WITHIN_MS = 30_000;

export interface DirectorOptions {
  readonly program: string;
  readonly configFile: string;
  readonly stateDir: string;
  /** Words before its command. */
  readonly within: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A Director as a process of its own, on a port the system chose. */
export class DirectorProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #options: DirectorOptions;
  #said = "";
  #failed = false;
  url = "";

  private constructor(options: DirectorOptions) {
    const { configFile, stateDir, within } = options;
    this.#options = options;
    const flags = ["--config", configFile, "--state-dir", stateDir, "--port", "0"];
    const [program = "", ...args] = [...within, process.execPath, options.program, ...flags];
    // A group of its own: Ctrl-C is for the one who watches, who then ends everything in order.
    this.#child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.#said += chunk;
      });
    this.#ended = once(this.#child, "exit").catch((error: unknown) => {
      this.#said += messageTrail(error);
      this.#failed = true;
    });
  }

  static async start(options: DirectorOptions): Promise<DirectorProcess> {
    const director = new DirectorProcess(options);
    try {
      await director.#listening();
    } catch (error) {
      await director.stop();
      throw error;
    }
    return director;
  }

  async #listening(): Promise<void> {
    const { clock, signal } = this.#options;
    const giveUp = clock.monotonic() + STARTS_WITHIN_MS;
    for (;;) {
      const url = /listens at (https:\S+?)\. /.exec(this.#said)?.[1];
      if (url !== undefined) {
        this.url = url;
        return;
      }
      const late = clock.monotonic() > giveUp;
      if (this.#over || late) {
        const why = late ? `not within ${STARTS_WITHIN_MS / 1000} s` : "it ended";
        throw DirectorDidNotStart({ why, said: this.#said.trim().slice(-1000) });
      }
      await clock.sleep(20, signal);
    }
  }

  get #over(): boolean {
    return this.#failed || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Asked first, killed when it takes too long; its database does not outlive it either way. */
  async stop(): Promise<void> {
    const { clock, stateDir } = this.#options;
    if (!this.#over) {
      const cancel = clock.after(STOPS_WITHIN_MS, () => this.#child.kill("SIGKILL"));
      this.#child.kill("SIGTERM");
      await this.#ended;
      cancel();
    }
    await endDatabase(join(stateDir, "database", "data"));
  }
}

/** Only the one whose command line names the directory: the number alone may be anybody's by now. */
async function endDatabase(dataDir: string): Promise<void> {
  const [first = ""] = (await readFile(join(dataDir, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const pid = Number(first);
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  if (!command.split("\0").includes(dataDir)) return;
  try {
    process.kill(pid, "SIGQUIT");
  } catch {
    // It has ended by itself.
  }
}
