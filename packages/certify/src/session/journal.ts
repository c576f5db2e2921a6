import { type FileHandle, open, readFile } from "node:fs/promises";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type CpiRequest, cpiRequest } from "@slipway/protocol/cpi/envelope";
import { check } from "@slipway/protocol/schema/check";
import { integer, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { JournalUnreadable } from "../errors.ts";

const line = v.union([
  v.strictObject({ begin: integer(1), request: cpiRequest }),
  v.strictObject({ made: integer(1), cid: text("the cid") }),
  v.strictObject({ ended: integer(1) }),
]);
type Line = v.InferOutput<typeof line>;

/** One thing that a CPI was asked to make, and that may still be there. */
export interface MadeThing {
  readonly number: number;
  readonly request: CpiRequest;
  /** Unknown as long as the call that makes it has not answered. */
  readonly cid: string | undefined;
}

/**
 * File of everything that a run makes. A line is on the disk before the call that makes the thing begins, so that
 * `slipway certify clean` can find what a killed run has left.
 */
export class Journal {
  readonly #file: FileHandle;
  readonly #things = new Map<number, MadeThing>();
  #last = 0;
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, lines: readonly Line[]) {
    this.#file = file;
    for (const one of lines) this.#take(one);
  }

  static async open(path: string): Promise<Journal> {
    const before = await readFile(path, "utf8").catch(() => "");
    const lines = linesOf(before, path);
    return new Journal(await open(path, "a", 0o600), lines);
  }

  /** Everything that may still be there. */
  get things(): readonly MadeThing[] {
    return [...this.#things.values()];
  }

  /** Notes what is about to be made. A repeat of a request whose outcome is unknown is the same thing. */
  async begin(asked: CpiRequest): Promise<number> {
    const again = this.things.find(
      ({ request: of, cid }) =>
        cid === undefined && of.method === asked.method && idOf(of) !== undefined && idOf(of) === idOf(asked),
    );
    if (again !== undefined) return again.number;
    const number = this.#last + 1;
    await this.#write({ begin: number, request: asked });
    return number;
  }

  async made(number: number, cid: string): Promise<void> {
    await this.#write({ made: number, cid });
  }

  /** The thing is gone, or was never made. */
  async ended(number: number): Promise<void> {
    await this.#write({ ended: number });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  #take(one: Line): void {
    if ("begin" in one) {
      this.#last = Math.max(this.#last, one.begin);
      this.#things.set(one.begin, { number: one.begin, request: one.request, cid: undefined });
    } else if ("made" in one) {
      const thing = this.#things.get(one.made);
      if (thing !== undefined) this.#things.set(one.made, { ...thing, cid: one.cid });
    } else this.#things.delete(one.ended);
  }

  async #write(one: Line): Promise<void> {
    this.#take(one);
    this.#writing = this.#writing.then(async () => {
      await this.#file.appendFile(`${JSON.stringify(one)}\n`);
      await this.#file.datasync();
    });
    await this.#writing;
  }
}

const idOf = ({ context }: CpiRequest): unknown => context.request_id;

function linesOf(content: string, path: string): readonly Line[] {
  const whole = content.split("\n");
  // A line that was cut by a crash: its call had not begun.
  whole.pop();
  return whole.map((one) => {
    const checked = check(line, parseStrictJson(one, path));
    if (!checked.ok) throw JournalUnreadable({ path, why: checked.problems.join("; ") });
    return checked.value;
  });
}
