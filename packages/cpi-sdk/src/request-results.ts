import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { withLock } from "@slipway/kernel/lock-file";
import type { CpiRequest } from "@slipway/protocol/cpi/envelope";

/** Callers repeat within minutes; no caller waits for anything older than this. */
const KEEP_MS = 7 * 24 * 3600 * 1000;
const PRUNE_ABOVE = 512;

/** Record of one create request: its result, not its arguments. A VM's result has its networks. */
interface Kept {
  readonly format: 1;
  readonly method: string;
  readonly state: "started" | "done";
  readonly result?: unknown;
}

/** The Ruby Director's: so short that two requests may have the same. */
const SHORT_ID = /^(cpi-)?\d{1,6}$/;

/**
 * One name for one request. A short id that comes with other arguments is another request. A long one is the request's
 * own: a repeat may carry a fresh certificate or another path of the same image.
 */
export function requestToken(request: CpiRequest): string | undefined {
  const id = request.context.request_id;
  if (id === undefined || id === null) return undefined;
  const told = SHORT_ID.test(id) ? [JSON.stringify(request.arguments)] : [];
  const parts = [request.context.director_uuid, id, request.method, ...told];
  return createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 32);
}

export interface Once<T> {
  readonly token: string;
  readonly method: string;
  /** Reports whether a remembered result still names something that exists. */
  readonly stillThere: (result: T) => Promise<boolean>;
  readonly work: (repeated: boolean) => Promise<T>;
  /** After a failed work: true when nothing of it is left, so that the request may be forgotten. */
  readonly clean: () => boolean;
  /** Called when a result could not be kept. */
  readonly notKept: (error: unknown) => void;
}

/** Results of create methods by request, in files of their own: processes share nothing but the directory. */
export class RequestResults {
  readonly #dir: string;
  readonly #clock: Clock;

  constructor(stateDir: string, clock: Clock) {
    this.#dir = join(stateDir, "requests");
    this.#clock = clock;
  }

  /** Runs the work once per request: a repeat gets the first result, two at once run one after the other. */
  async once<T>(once: Once<T>, signal: AbortSignal): Promise<T> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const file = join(this.#dir, `${once.token}.json`);
    const lock = { clock: this.#clock, waitMs: Number.POSITIVE_INFINITY, signal };
    return await withLock(`${file}.lock`, lock, async () => {
      const before = await this.#read(file);
      if (before?.state === "done" && (await once.stillThere(before.result as T))) return before.result as T;
      await this.#write(file, { format: 1, method: once.method, state: "started" });
      await this.#prune();
      const repeated = before?.state === "started";
      const result = await once.work(repeated).catch(async (error: unknown) => {
        // A repeat cleans up after itself. What the run before it has left may still be there: the next repeat looks, too.
        if (once.clean() && !repeated) await unlink(file).catch(() => undefined);
        throw error;
      });
      // It exists and is the caller's from now on. Not kept, it stays "started": a repeat looks for the token.
      await this.#write(file, { format: 1, method: once.method, state: "done", result }).catch(once.notKept);
      return result;
    });
  }

  async #read(file: string): Promise<Kept | undefined> {
    try {
      const { mtimeMs } = await stat(file);
      const kept = JSON.parse(await readFile(file, "utf8")) as Partial<Kept>;
      // A request id of six digits may come again after this long; then it is another request.
      const old = mtimeMs < this.#clock.now() - KEEP_MS;
      return kept.format === 1 && !old ? (kept as Kept) : undefined;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      // Files are written whole, so this is not a crash of ours. Unknown means: it may have begun.
      if (error instanceof SyntaxError) return { format: 1, method: "", state: "started" };
      throw error;
    }
  }

  async #write(file: string, kept: Kept): Promise<void> {
    await writeFileAtomic(file, JSON.stringify(kept));
  }

  async #prune(): Promise<void> {
    const names = (await readdir(this.#dir)).filter((name) => name.endsWith(".json"));
    if (names.length <= PRUNE_ABOVE) return;
    const oldest = this.#clock.now() - KEEP_MS;
    for (const name of names) {
      const path = join(this.#dir, name);
      const age = await stat(path).catch(() => undefined);
      if (age !== undefined && age.mtimeMs < oldest) await unlink(path).catch(() => undefined);
    }
  }
}
