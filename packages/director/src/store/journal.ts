import { BadWrite } from "@slipway/engine/journal/errors";
import type { IntentRecord, Journal, JournalEntry } from "@slipway/engine/journal/journal";
import type { InstanceUuid } from "@slipway/engine/model/names";
import { type RawBuilder, sql } from "kysely";
import { payloadOf } from "./entry.ts";
import { refusal } from "./failures.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Lease } from "./lease.ts";
import { leaseLostAs } from "./lease.ts";
import { readInstances } from "./records.ts";
import type { Db } from "./schema.ts";

/** Raised by the functions of migration 4. */
const BAD_WRITE = "SW001";

/** Numbers of one run of a task; ids of before there were numbers are below all of them. */
const NUMBERS_OF_A_RUN = 2 ** 32;

/** The journal of one run of a task: an outcome with all it changes and the next intent are one statement. */
export function openJournal(db: Db, lease: Lease): Journal {
  const { taskId, owner, attempt } = lease;
  let last = attempt * NUMBERS_OF_A_RUN;
  const commits = new GroupCommit(async (entries: readonly JournalEntry[]) => {
    const { documents, intents, envs } = payloadOf(entries);
    try {
      await sql`select write_journal(${taskId}, ${owner}, ${attempt}, ${JSON.stringify(documents)}::jsonb,
        ${intents}::text[], ${envs}::text[])`.execute(db);
    } catch (error) {
      throw explained(error, taskId);
    }
  }, BadWrite.is);
  return {
    taskId,
    newNumber: () => {
      last += 1;
      return last;
    },
    commit: (entry) => commits.add(entry),
    openIntents: async (scope) => {
      const rows = await db
        .selectFrom("intents")
        .leftJoin("tasks", "tasks.id", "intents.task_id")
        .select([
          "task_id",
          "number",
          "scope",
          "instance_uuid",
          "step",
          "version",
          "intent_sealed",
          "opened_at",
          "restored",
          "settling_refused",
        ])
        .where("scope", "=", scope)
        .where(sql<boolean>`(intents.task_id = ${taskId} or tasks.id is null
          or tasks.state not in ('processing', 'cancelling') or tasks.lease_until is null
          or tasks.lease_until < clock_timestamp())`)
        .orderBy("opened_at")
        .orderBy("number")
        .execute();
      return rows.map(
        (row): IntentRecord => ({
          taskId: row.task_id,
          number: row.number,
          scope: row.scope,
          instance: row.instance_uuid as InstanceUuid | null,
          step: row.step,
          version: row.version,
          intent: row.intent_sealed,
          ...(row.restored && { restored: true }),
          ...(row.settling_refused && { settlingRefused: true }),
        }),
      );
    },
    instance: async (uuid) => (await readInstances(db, sql`i.uuid = ${uuid}`))[0],
    ownerOf: async (id) => (await readInstances(db, ownerIs(id)))[0],
  };
}

function ownerIs(id: Parameters<Journal["ownerOf"]>[0]): RawBuilder<unknown> {
  if ("vm" in id) return sql`i.id = (select instance_id from vms where cid = ${id.vm})`;
  if ("disk" in id) return sql`i.id = (select instance_id from persistent_disks where cid = ${id.disk})`;
  return sql`i.id = (select instance_id from vms where agent_id = ${id.agent})`;
}

/** Explains what the functions and the constraints of the database refuse. */
function explained(error: unknown, taskId: number): unknown {
  const refused = refusal(error);
  const { message } = error as Error;
  if (refused?.state === BAD_WRITE) return BadWrite({ what: message }, { cause: error });
  if (refused?.state.startsWith("23"))
    return BadWrite({ what: `the rule ${refused.constraint} would be broken` }, { cause: error });
  return leaseLostAs(error, taskId);
}
