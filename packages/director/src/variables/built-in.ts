import { fingerprint } from "@slipway/engine/documents/tree";
import type { ConfigServer, GenerationRequest } from "@slipway/engine/variables/config-server";
import { VariableMissing, VariableNotGenerated } from "@slipway/engine/variables/errors";
import { CONFIG_SERVER_GENERATORS } from "@slipway/engine/variables/generate/generators";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { inTransaction } from "../store/open.ts";
import type { Db } from "../store/schema.ts";
import {
  newestVariable,
  saveVariable,
  type VariableRecord,
  variableById,
  variableOfRequest,
} from "../store/variables.ts";

export interface BuiltInOptions {
  readonly db: Db;
  /** A task's own: nothing is written by one that has lost its lease. */
  readonly write: <T>(work: (db: Db) => Promise<T>) => Promise<T>;
  readonly clock: Clock;
  readonly random: Random;
}

/** The Director as its own config server: values lie in its store, sealed. */
export function builtInConfigServer({ db, write, clock, random }: BuiltInOptions): ConfigServer {
  const missing = (name: string, id?: string) =>
    VariableMissing({ name, id, why: "the Director's own config server has none of this name" });
  return {
    newest: async (name) => {
      const found = await newestVariable(db, name);
      if (found === undefined) throw missing(name);
      return found;
    },
    byId: async (id, name) => {
      const found = await variableById(db, id);
      if (found === undefined) throw missing(name, id);
      return found;
    },
    generate: async (wanted) => {
      const { name, type, options, requestId } = wanted;
      const before = await variableOfRequest(db, name, requestId);
      if (before !== undefined) return before.id;
      const newest = await newestVariable(db, name);
      if (newest !== undefined && suits(newest, wanted)) return newest.id;
      // Keys take a second to find: no lock is held meanwhile. The slower of two requests makes its key for nothing.
      const value = await generated(wanted, { db, clock, random });
      return await write((tx) =>
        saveVariable(tx, { id: random.uuid(), name, type, value, options, requestId }, (found) =>
          suits(found, wanted),
        ),
      );
    },
  };
}

/** The Director's own config server, outside of tasks. */
export const ownVariables = (given: Omit<BuiltInOptions, "write">): ConfigServer =>
  builtInConfigServer({ ...given, write: (work) => inTransaction(given.db, work) });

function suits(newest: VariableRecord, { mode, type, options }: GenerationRequest): boolean {
  if (mode === "overwrite") return false;
  return (
    mode === "no-overwrite" ||
    (newest.type === type && fingerprint(newest.options ?? {}) === fingerprint(options))
  );
}

async function generated(
  { name, type, options }: GenerationRequest,
  { db, clock, random }: Pick<BuiltInOptions, "db" | "clock" | "random">,
): Promise<unknown> {
  const fail = (why: string, cause?: unknown) => VariableNotGenerated({ name, type, why }, { cause });
  const load = Object.hasOwn(CONFIG_SERVER_GENERATORS, type) ? CONFIG_SERVER_GENERATORS[type] : undefined;
  if (load === undefined) {
    const known = Object.keys(CONFIG_SERVER_GENERATORS).join(", ");
    throw fail(`There is no such type; the Director's own config server makes ${known}`);
  }
  const ca = typeof options.ca === "string" ? await newestVariable(db, options.ca) : undefined;
  const generate = await load();
  return await generate(options, {
    clock,
    random,
    lookUp: (asked) => (ca !== undefined && asked === ca.name ? { value: ca.value } : undefined),
    fail,
  });
}
