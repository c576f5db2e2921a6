import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { AgentId } from "@slipway/protocol/ids";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import { findAttribute, setAttribute } from "./attributes.ts";
import type { Db } from "./schema.ts";

/** Authorities of NATS by their ids. `""` is the Director's own, which is the first. */
const state = v.strictObject({ current: v.string(), next: v.optional(v.string()) });
export type AuthoritiesOfNats = v.InferOutput<typeof state>;

const NAME = "nats_authorities";

export async function natsAuthorities(db: Db): Promise<AuthoritiesOfNats> {
  const text = await findAttribute(db, NAME);
  if (text === undefined) return { current: "" };
  const checked = check(state, parseStrictJson(text, NAME), NAME);
  if (!checked.ok) throw new Error(`bug: the authorities of NATS are not as they were written: ${text}`);
  return checked.value;
}

/**
 * The authority `id` begins to take over. Nothing changes when one does so already, or when it has done so: the task that
 * asks is run again after a crash.
 */
export async function beginTakeover(db: Db, id: string): Promise<void> {
  const { current, next } = await natsAuthorities(db);
  if (next !== undefined || current === id) return;
  await setAttribute(db, NAME, JSON.stringify({ current, next: id } satisfies AuthoritiesOfNats));
}

/** Drops the old authority, unless an agent still needs it. `mark` is the trust that all other agents have confirmed. */
export async function endTakeover(
  db: Db,
  taking: { readonly next: string; readonly mark: string },
): Promise<boolean> {
  const { next } = await natsAuthorities(db);
  if (next !== taking.next) return false;
  const { agents, making } = await behind(db, taking.mark);
  if (agents.length > 0 || making > 0) return false;
  await setAttribute(db, NAME, JSON.stringify({ current: next } satisfies AuthoritiesOfNats));
  return true;
}

export interface AgentBehind {
  readonly deployment: string;
  /** `group/uuid`. */
  readonly instance: string;
  readonly active: boolean;
  readonly ignored: boolean;
}

export interface Behind {
  readonly agents: readonly AgentBehind[];
  /** VMs that are being made, or may have been before a crash: the trust they get is not known. */
  readonly making: number;
}

/** Returns the agents on NATS that have not confirmed the trust of the mark. */
export async function behind(db: Db, mark: string): Promise<Behind> {
  // First: a VM that is recorded between the queries is then counted twice, and not missed.
  const making = (await agentsBeingMade(db)).length;
  const rows = await db
    .selectFrom("vms as v")
    .innerJoin("instances as i", "i.id", "v.instance_id")
    .innerJoin("deployments as d", "d.id", "i.deployment_id")
    .select(["d.name", "i.group_name", "i.uuid", "v.active", "i.ignore"])
    .where("v.agent_url", "like", "nats:%")
    .where("v.nats_trust", "is distinct from", mark)
    .orderBy("d.name")
    .orderBy("i.group_name")
    .orderBy("i.index")
    .execute();
  return {
    agents: rows.map(({ name, group_name, uuid, active, ignore }) => ({
      ...{ deployment: name, instance: `${group_name}/${uuid}`, active, ignored: ignore },
    })),
    making,
  };
}

/** The agents on NATS that open intents of `create_vm` name. */
export async function agentsBeingMade(db: Db): Promise<readonly string[]> {
  const open = await db
    .selectFrom("intents")
    .select("intent_sealed")
    .where("step", "=", "create_vm")
    .orderBy("task_id")
    .orderBy("number")
    .execute();
  return open
    .map(({ intent_sealed }) => intent_sealed)
    .filter((intent) => intent.transport === "nats" && typeof intent.agentId === "string")
    .map((intent) => String(intent.agentId));
}

/** Returns the names of the deployments that VMs belong to, by agent. */
export async function deploymentsOfAgents(
  db: Db,
  agents: readonly AgentId[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom("vms as v")
    .innerJoin("instances as i", "i.id", "v.instance_id")
    .innerJoin("deployments as d", "d.id", "i.deployment_id")
    .select(["v.agent_id", "d.name"])
    .where((row) => row("v.agent_id", "=", row.fn.any(row.val([...agents]))))
    .execute();
  return new Map(rows.map(({ agent_id, name }) => [agent_id, name]));
}
