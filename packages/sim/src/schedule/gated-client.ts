import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";
import { type Statement, statementsIn } from "../crash/sql.ts";
import type { CallScheduler } from "./scheduler.ts";

type Query = (...args: readonly unknown[]) => Promise<unknown>;

export interface ClientGate {
  readonly scheduler: CallScheduler;
  /** Functions of the database that write. */
  readonly functions: ReadonlySet<string>;
  /** False: statements run at once. */
  readonly isClosed: () => boolean;
  readonly actor: () => string | undefined;
}

/** Idle turns after which a transaction waits for something else than the database. */
const TRANSACTION_TURNS = 50;

/**
 * Returns a class of database clients whose statements wait for the scheduler. A transaction is one call, from its begin to its
 * end: nothing runs in between, so none ever waits for another's row locks.
 */
export function gatedClient(gate: ClientGate): typeof pg.Client {
  const { scheduler, functions } = gate;
  const parsed = new Map<string, readonly Statement[]>();
  const parse = (text: string): readonly Statement[] => {
    const found = parsed.get(text) ?? statementsIn(text, functions);
    parsed.set(text, found);
    return found;
  };

  class GatedClient extends pg.Client {
    #inside = false;
    #flight: Promise<unknown> | undefined;

    #send(send: Query, args: readonly unknown[], statements: readonly Statement[]): Promise<unknown> {
      if (statements.some(({ does }) => does === "begin")) this.#inside = true;
      const flight = send(...args).finally(() => {
        if (statements.some(({ does }) => does === "commit" || does === "rollback")) this.#inside = false;
        this.#flight = undefined;
      });
      this.#flight = flight;
      return flight;
    }

    async #transactionOver(): Promise<void> {
      for (let idle = 0; this.#inside && idle < TRANSACTION_TURNS; idle += 1) {
        if (this.#flight !== undefined) idle = 0;
        await (this.#flight ?? nextTurn()).catch(() => undefined);
        await nextTurn();
      }
    }

    gated(send: Query, args: readonly unknown[]): unknown {
      if (typeof args.at(-1) === "function") return send(...args);
      const statements = parse(textOf(args));
      if (!gate.isClosed() || this.#inside) return this.#send(send, args, statements);
      const writes = statements.flatMap((one) => (one.does === "write" ? one.what : []));
      const begins = statements.some(({ does }) => does === "begin");
      const kind = begins || writes.length > 0 ? "write" : "read";
      const name = begins ? "transaction" : writes.join(", ") || "read";
      return scheduler.enter(
        { kind, name, actor: gate.actor() },
        () => this.#send(send, args, statements),
        () => this.#transactionOver(),
      );
    }
  }
  // The types of `query` are overloads that a method cannot implement.
  const query = pg.Client.prototype.query as unknown as (
    this: pg.Client,
    ...args: unknown[]
  ) => Promise<unknown>;
  Object.defineProperty(GatedClient.prototype, "query", {
    value(this: GatedClient, ...args: unknown[]) {
      return this.gated((...given) => query.apply(this, [...given]), args);
    },
  });
  return GatedClient;
}

function textOf([query]: readonly unknown[]): string {
  if (typeof query === "string") return query;
  const { text } = (query ?? {}) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}
