import { mkdir, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fingerprint, kindOf, newMap, type Tree } from "@slipway/engine/documents/tree";
import type { LookUp } from "@slipway/engine/documents/variables";
import { parseYaml } from "@slipway/engine/documents/yaml";
import type { Around } from "@slipway/engine/variables/generate/generator";
import { GENERATORS } from "@slipway/engine/variables/generate/generators";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { withLock } from "@slipway/kernel/lock-file";
import { isObject } from "@slipway/protocol/schema/json";
import { writeDocument } from "../documents/write-document.ts";
import type { Tools } from "../tools.ts";
import { BadVarsFile, GenerationFailed, StoreFailed } from "./errors.ts";

/** A file of generated variables, upstream's format: a flat map from names to values. */
export interface VarsStore {
  find(name: string): { readonly value: unknown } | undefined;
  names(): readonly string[];
  /** Makes the variable and keeps it, unless it is there: then it stays as it is. */
  generate(wanted: MissingVariable, lookUp: LookUp): Promise<void>;
}

export interface MissingVariable {
  readonly name: string;
  readonly type: string;
  readonly options: unknown;
}

export interface VarsStoreOptions extends Pick<Tools, "clock" | "random">, Pick<Around, "bits"> {}

/** Maximum wait for another process, which generates keys; those take seconds. */
const WAIT_MS = 120_000;

export async function openStore(path: string, options: VarsStoreOptions): Promise<VarsStore> {
  const file = await fileBehind(path);
  let kept = (await read(file)).values;
  return {
    find: (name) => (Object.hasOwn(kept, name) ? { value: kept[name] } : undefined),
    names: () => Object.keys(kept),
    generate: async (wanted, lookUp) => {
      const make = await maker(wanted, { ...options, lookUp });
      await mkdir(dirname(file), { recursive: true }).catch((cause: unknown) => {
        throw StoreFailed({ doing: "writing", path: file }, { cause });
      });
      const lock = join(dirname(file), `.${basename(file)}.lock`);
      await withLock(lock, { clock: options.clock, waitMs: WAIT_MS }, async () => {
        const found = await read(file);
        kept = found.values;
        if (Object.hasOwn(kept, wanted.name)) return;
        const value = await make();
        const next = withEntry(found, wanted.name, value);
        await writeFileAtomic(file, next.text, 0o600).catch((cause: unknown) => {
          throw StoreFailed({ doing: "writing", path: file }, { cause });
        });
        kept = next.values;
      });
    },
  };
}

/** Written through a link, not over it. */
const fileBehind = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));

async function maker({ name, type, options }: MissingVariable, around: Omit<Around, "fail">) {
  const fail = (why: string, cause?: unknown) => GenerationFailed({ name, why }, { cause });
  const load = Object.hasOwn(GENERATORS, type) ? GENERATORS[type] : undefined;
  if (load === undefined) {
    throw fail(`Unsupported value type: ${type}; there is ${Object.keys(GENERATORS).join(", ")}`);
  }
  const generator = await load();
  return () => generator(options, { ...around, fail });
}

interface Kept {
  readonly text: string;
  readonly values: Tree;
}

async function read(file: string): Promise<Kept> {
  let text = "";
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    if (systemCode(cause) !== "ENOENT") throw StoreFailed({ doing: "reading", path: file }, { cause });
  }
  const values = parseYaml(text, file) ?? newMap();
  if (!isObject(values)) throw BadVarsFile({ path: file, found: kindOf(values) });
  return { text, values };
}

/** Adds an entry. Keeps the existing text with its comments if possible; otherwise writes the whole file again. */
function withEntry({ text, values }: Kept, name: string, value: unknown): Kept {
  const entry = Object.assign(newMap(), { [name]: value });
  const all = Object.assign(newMap(), values, entry);
  const longer = `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${writeDocument(entry)}`;
  return { text: readsAs(longer, all) ? longer : writeDocument(all), values: all };
}

function readsAs(text: string, value: unknown): boolean {
  try {
    return fingerprint(parseYaml(text, "the store")) === fingerprint(value);
  } catch {
    return false;
  }
}
