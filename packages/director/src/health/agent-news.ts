import { display } from "@slipway/engine/model/names";
import type { Random } from "@slipway/kernel/random";
import { alertSubject, heartbeatSubject, shutdownSubject } from "@slipway/protocol/agent/subjects";
import { type Checked, check } from "@slipway/protocol/schema/check";
import { integer, json, open, text } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { oneLine } from "../tasks/failure.ts";
import type { Alert } from "./alert.ts";
import type { Watched } from "./model.ts";
import { reportOf } from "./report.ts";
import type { Heartbeats } from "./sightings.ts";

export interface AgentNewsOptions {
  /** Returns the instance of an agent that is reached where this was heard, and whose VM is recorded. */
  readonly instanceOf: (agentId: string) => Watched | undefined;
  readonly heartbeats: Heartbeats;
  readonly alert: (alert: Alert) => void;
  /** A heartbeat said something new. */
  readonly onNews: () => void;
  readonly random: Pick<Random, "uuid">;
  readonly onError: (error: unknown) => void;
}

/** Subjects on which agents send without being asked, as upstream's health monitor hears them. */
export const SUBJECTS = [heartbeatSubject("*"), alertSubject("*"), shutdownSubject("*")];

/** Fields that the Director reads, so that agents of all versions are heard. */
const heartbeat = open({ job_state: text("job_state"), vitals: v.optional(json()) });
const alert = open({
  id: v.optional(v.nullable(v.string())),
  severity: integer(0, "severity"),
  title: text("title"),
  summary: v.optional(v.nullable(v.string())),
  created_at: integer(0, "created_at"),
});

/** A heartbeat has about one KiB. */
const LARGEST = 64 << 10;
/** Messages that are read of one agent between two ticks; the Director drops more unread. */
const MOST_AT_ONCE = 10;
/** Ids of alerts that are remembered of each agent. */
const MOST_IDS = 100;
const LONGEST_ID = 200;

/** Counts of messages, by kind. */
export type Heard = Readonly<Record<"heartbeat" | "alert" | "shutdown" | "unreadable" | "dropped", number>>;

/**
 * Takes messages of agents. Who sent one is what its subject says, since the server lets each write to its own alone; what
 * the message says of that is not read. Agents of VMs that are not recorded are not heard.
 */
export class AgentNews {
  readonly #options: AgentNewsOptions;
  readonly #heard = { heartbeat: 0, alert: 0, shutdown: 0, unreadable: 0, dropped: 0 };
  readonly #lately = new Map<string, number>();
  /** Agents whose last message made no sense: said once, until one does. */
  readonly #unreadable = new Set<string>();
  readonly #ids = new Map<string, string[]>();

  constructor(options: AgentNewsOptions) {
    this.#options = options;
  }

  get heard(): Heard {
    return { ...this.#heard };
  }

  /** Starts a new period; to be called every second or so. */
  tick(): void {
    this.#lately.clear();
  }

  /** Forgets all agents except these. */
  keep(agentIds: ReadonlySet<string>): void {
    for (const map of [this.#unreadable, this.#ids])
      for (const id of map.keys()) if (!agentIds.has(id)) map.delete(id);
  }

  /** Never throws. */
  take(subject: string, data: Uint8Array): void {
    const [, , topic, agentId = "", ...more] = subject.split(".");
    const watched = more.length > 0 ? undefined : this.#options.instanceOf(agentId);
    const lately = (this.#lately.get(agentId) ?? 0) + 1;
    if (watched === undefined || lately > MOST_AT_ONCE) {
      this.#heard.dropped += 1;
      return;
    }
    this.#lately.set(agentId, lately);
    if (topic === "heartbeat") this.#heartbeat(agentId, watched, data);
    else if (topic === "alert") this.#alert(agentId, watched, data);
    else if (topic === "shutdown") {
      this.#heard.shutdown += 1;
      this.#options.heartbeats.leaves(agentId);
    }
  }

  #heartbeat(agentId: string, watched: Watched, data: Uint8Array): void {
    const said = this.#read("heartbeat", heartbeat, data, agentId, watched);
    if (said === undefined) return;
    this.#heard.heartbeat += 1;
    const report = reportOf(said.job_state, { vitals: said.vitals }, undefined);
    if (this.#options.heartbeats.heartbeat(agentId, report)) this.#options.onNews();
  }

  /** Sends an alert with upstream's fields. The Director sets the source: it knows which agent sent it. */
  #alert(agentId: string, watched: Watched, data: Uint8Array): void {
    const said = this.#read("alert", alert, data, agentId, watched);
    if (said === undefined) return;
    const id = said.id?.slice(0, LONGEST_ID);
    const ids = this.#ids.get(agentId) ?? [];
    if (id !== undefined && ids.includes(id)) return;
    if (id !== undefined) this.#ids.set(agentId, [...ids.slice(1 - MOST_IDS), id]);
    this.#heard.alert += 1;
    this.#options.alert({
      kind: "alert",
      id: id ?? this.#options.random.uuid(),
      severity: said.severity,
      category: null,
      title: oneLine(said.title),
      summary: oneLine(said.summary ?? ""),
      source: `${watched.deployment}: ${display(watched)}`,
      deployment: watched.deployment,
      created_at: said.created_at,
    });
  }

  #read<const S extends Schema>(
    what: string,
    schema: S,
    data: Uint8Array,
    agentId: string,
    watched: Watched,
  ): v.InferOutput<S> | undefined {
    const read = readJson(what, schema, data);
    if (read.ok) {
      this.#unreadable.delete(agentId);
      return read.value;
    }
    this.#heard.unreadable += 1;
    if (this.#unreadable.has(agentId)) return undefined;
    this.#unreadable.add(agentId);
    const who = `${watched.deployment}: ${display(watched)}`;
    this.#options.onError(
      new Error(`the agent of ${who} sends what cannot be read: ${read.problems.join("; ")}`),
    );
    return undefined;
  }
}

function readJson<const S extends Schema>(
  what: string,
  schema: S,
  data: Uint8Array,
): Checked<v.InferOutput<S>> {
  if (data.length > LARGEST) return { ok: false, problems: [`${what}: it has ${data.length} bytes`] };
  try {
    return check(schema, JSON.parse(Buffer.from(data).toString()), what);
  } catch {
    return { ok: false, problems: [`${what}: it is not JSON`] };
  }
}
