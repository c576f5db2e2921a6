import type { IntentRecord, Journal, Writes } from "@slipway/engine/flows/journal";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sql } from "kysely";
import { BadWrite, InstanceHolds } from "./errors.ts";
import { refusal } from "./failures.ts";
import type { Store } from "./open.ts";
import { readInstances } from "./records.ts";
import { BAD_WRITE, CLOSED_ALREADY, INSTANCE_HOLDS, type Statement, statementsOf } from "./writes.ts";

type How = Parameters<Journal["close"]>[1];

interface IntentRow {
  readonly id: number;
  readonly task_id: number;
  readonly deployment: string;
  readonly instance_uuid: string | null;
  readonly step: string;
  readonly intent: JsonObject;
}

/** The journal in the database: an intent is one round trip, an outcome with all it changes is one too. */
export function openJournal(store: Store): Journal {
  const { db } = store;
  const run = async (statements: readonly Statement[]): Promise<void> => {
    if (statements.length === 0) return;
    try {
      await store.together(statements.map((statement) => statement.compile(db)));
    } catch (error) {
      throw explained(error);
    }
  };
  return {
    open: async (given) => {
      const intent = JSON.stringify(given.intent);
      const { id } = await db
        .insertInto("intents")
        .values({
          task_id: given.taskId,
          deployment: given.deployment,
          instance_uuid: given.instance,
          step: given.step,
          intent,
        })
        .returning("id")
        .executeTakeFirstOrThrow();
      // As it will be read after a crash: the same for whoever runs it now.
      return { ...given, id, intent: JSON.parse(intent) as JsonObject };
    },
    close: async (id, how, write) => {
      const writes = write === undefined ? [] : statementsOf(write);
      try {
        await run([closeIntent(id, how), ...writes]);
      } catch (error) {
        if (refusal(error)?.state !== CLOSED_ALREADY) throw error;
      }
    },
    write: async (write: (writes: Writes) => void) => run(statementsOf(write)),
    openIntents: async (deployment) => {
      const rows = await db
        .selectFrom("intents")
        .select(["id", "task_id", "deployment", "instance_uuid", "step", "intent"])
        .where("deployment", "=", deployment)
        .where("state", "=", "open")
        .orderBy("id")
        .execute();
      return rows.map(toIntent);
    },
    instance: async (uuid) => (await readInstances(db, sql`i.uuid = ${uuid}`))[0],
    ownerOf: async (id) => (await readInstances(db, ownerIs(id)))[0],
  };
}

function ownerIs(id: Parameters<Journal["ownerOf"]>[0]): Statement {
  if ("vm" in id) return sql`i.id = (select instance_id from vms where cid = ${id.vm})`;
  if ("disk" in id) return sql`i.id = (select instance_id from persistent_disks where cid = ${id.disk})`;
  return sql`i.id = (select instance_id from vms where agent_id = ${id.agent})`;
}

/** Fails when it was closed before, and with it everything that was to happen together. */
function closeIntent(id: number, how: How): Statement {
  return sql`
    with closed as (
      update intents set state = ${how}, closed_at = now() where id = ${id} and state = 'open' returning 1)
    select must(exists (select 1 from closed),
      case when exists (select 1 from intents where id = ${id}) then ${CLOSED_ALREADY} else ${BAD_WRITE} end,
      ${`there is no open intent ${id}`})`;
}

const toIntent = (row: IntentRow): IntentRecord => ({
  id: row.id,
  taskId: row.task_id,
  deployment: row.deployment,
  instance: row.instance_uuid as InstanceUuid | null,
  step: row.step,
  intent: row.intent,
});

/** What the statements refuse, and what the constraints do. */
function explained(error: unknown): unknown {
  const refused = refusal(error);
  const { message } = error as Error;
  if (refused?.state === BAD_WRITE) return BadWrite({ what: message }, { cause: error });
  if (refused?.state === INSTANCE_HOLDS) {
    const [what = "", instance = ""] = message.split("|");
    return InstanceHolds({ instance, what }, { cause: error });
  }
  if (refused?.state.startsWith("23"))
    return BadWrite({ what: `the rule ${refused.constraint} would be broken` }, { cause: error });
  return error;
}
