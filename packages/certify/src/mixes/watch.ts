import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { shellQuoted } from "@slipway/kernel/shell";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type CpiRequest, type CpiResponse, cpiRequest, cpiResponse } from "@slipway/protocol/cpi/envelope";
import { type Checked, check } from "@slipway/protocol/schema/check";

/** Called while the Director waits for its CPI. What they return is what the other side gets. */
export interface CallObserver {
  before(request: CpiRequest): Promise<CpiRequest>;
  after(request: CpiRequest, reply: CpiResponse): Promise<CpiResponse>;
}

/**
 * Stands where the Director expects the CPI: reports the request and waits, lets the CPI do it, reports the reply and
 * waits again. It gives up when the watcher is gone. A second Node process per call would cost as much as the CPI
 * itself.
 */
const SCRIPT = `#!/bin/sh
umask 077
me=$(mktemp DIR/XXXXXXXXXX) || exit 1
await() { while [ ! -e "$me.$1" ]; do kill -0 WATCHER 2>/dev/null || exit 1; sleep 0.01; done; }
cat > "$me.request"
: > "$me.asked"
await go
NODE CPI "$@" < "$me.request" > "$me.reply"
code=$?
: > "$me.answered"
await end
cat "$me.reply"
rm -f "$me" "$me".*
exit $code
`;

const PAUSE_MS = 5;

export interface WatchOptions {
  /** Directory for the script and its messages; no other user may look into it. */
  readonly dir: string;
  readonly cpi: string;
  readonly eyes: CallObserver;
  readonly clock: Clock;
}

/** Watches a CPI executable: every call is looked at from both sides while it waits. */
export class CpiWatch {
  readonly #options: WatchOptions;
  readonly #open = new AbortController();
  readonly #asked = new Map<string, CpiRequest | undefined>();
  readonly #answered = new Set<string>();
  #watching: Promise<void> = Promise.resolve();
  /** Problems that kept it from seeing something. */
  readonly problems: string[] = [];

  private constructor(options: WatchOptions) {
    this.#options = options;
  }

  static async begin(options: WatchOptions): Promise<CpiWatch> {
    const watch = new CpiWatch(options);
    await mkdir(options.dir, { mode: 0o700 });
    const script = SCRIPT.replace("DIR", shellQuoted(options.dir))
      .replace("WATCHER", String(process.pid))
      .replace("NODE", shellQuoted(process.execPath))
      .replace("CPI", shellQuoted(options.cpi));
    await writeFile(watch.program, script);
    await chmod(watch.program, 0o700);
    watch.#watching = watch.#watch();
    return watch;
  }

  /** Path of the program that the Director uses as its CPI. */
  get program(): string {
    return join(this.#options.dir, "cpi");
  }

  async end(): Promise<void> {
    this.#open.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { dir, clock } = this.#options;
    const { signal } = this.#open;
    while (!signal.aborted) {
      const names = await readdir(dir).catch(() => []);
      await Promise.all(names.map((name) => this.#notice(name)));
      await clock.sleep(PAUSE_MS, signal).catch(() => undefined);
    }
  }

  async #notice(name: string): Promise<void> {
    const [call = "", what = ""] = name.split(".");
    if (what === "asked" && !this.#asked.has(call)) {
      this.#asked.set(call, undefined);
      await this.#say(call, "go", async () => {
        const sent = must(check(cpiRequest, await this.#read(call, "request"), "request"));
        const request = await this.#options.eyes.before(sent);
        this.#asked.set(call, request);
        if (request !== sent) await this.#replace(call, "request", request);
      });
    }
    if (what === "answered" && !this.#answered.has(call)) {
      this.#answered.add(call);
      await this.#say(call, "end", async () => {
        const reply = must(check(cpiResponse, await this.#read(call, "reply"), "reply"));
        const request = this.#asked.get(call);
        const given = request && (await this.#options.eyes.after(request, reply));
        if (given !== undefined && given !== reply) await this.#replace(call, "reply", given);
      });
    }
  }

  /** Lets the call go on, however the look went. */
  async #say(call: string, word: string, look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      this.problems.push(messageTrail(error));
    }
    await writeFile(join(this.#options.dir, `${call}.${word}`), "");
  }

  async #replace(call: string, what: string, document: object): Promise<void> {
    await writeFile(join(this.#options.dir, `${call}.${what}`), JSON.stringify(document), { mode: 0o600 });
  }

  async #read(call: string, what: string): Promise<unknown> {
    return parseStrictJson(await readFile(join(this.#options.dir, `${call}.${what}`), "utf8"), `a ${what}`);
  }
}

function must<T>(checked: Checked<T>): T {
  if (!checked.ok) throw new Error(checked.problems.join("; "));
  return checked.value;
}
