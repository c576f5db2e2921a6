import type { CompiledQuery } from "kysely";
import type pg from "pg";

/** Limits of statements: more would cost the server memory for every connection, and frequent ones are among the first. */
const MOST_KNOWN = 1000;
const MOST_NAMED = 200;

/** Statements that come again and again get a name, so that the server parses and plans each only once. */
export class Prepared {
  readonly #seen = new Map<string, number>();
  readonly #names = new Map<string, string>();

  query({ sql, parameters }: Pick<CompiledQuery, "sql" | "parameters">): pg.QueryConfig {
    const values = [...parameters];
    // Without parameters it may be several statements, which cannot be prepared.
    if (values.length === 0) return { text: sql };
    const name = this.#names.get(sql) ?? this.#learn(sql);
    return { text: sql, values, ...(name !== undefined && { name }) };
  }

  #learn(sql: string): string | undefined {
    const times = (this.#seen.get(sql) ?? 0) + 1;
    if (times === 1 && this.#seen.size >= MOST_KNOWN) return undefined;
    this.#seen.set(sql, times);
    if (times < 3 || this.#names.size >= MOST_NAMED) return undefined;
    const name = `slipway_${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}
