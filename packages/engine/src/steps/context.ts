import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Agent, Agents } from "../agents/agent.ts";
import type { Cloud, Clouds } from "../clouds/cloud.ts";
import type { Journal } from "../journal/journal.ts";
import type { AuditEvent } from "../model/audit-event.ts";
import { slug } from "../model/names.ts";
import type { VmRecord } from "../model/records.ts";

/** Settings of the Director that steps read. */
export interface FlowSettings {
  readonly directorName: string;
  readonly directorUuid: string;
  /** Director-wide agent env (`blobstores`, `ntp`), under the group's own. */
  readonly agentEnvBosh: JsonObject;
  readonly agentWaitMs: number;
  readonly maxVmCreateTries: number;
  readonly keepUnreachableVms: boolean;
  readonly stopTimeoutMs: number;
}

/** What steps work with. */
export interface Outside {
  readonly clouds: Clouds;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: FlowSettings;
}

/** One task's view of it. */
export interface FlowContext extends Outside {
  readonly journal: Journal;
  readonly deployment: string;
  readonly signal: AbortSignal;
  /** Clouds and agents for calls about one instance, `db/<uuid>`, whose name the task's call log then shows. */
  readonly about?: ((instance: string) => Pick<Outside, "clouds" | "agents">) | undefined;
  /** For the task's debug output. */
  readonly debug: (line: string) => void;
  /** For the task's cpi output. */
  readonly cpiLog: (text: string) => void;
  /** For `bosh events`. */
  readonly audit: (event: AuditEvent) => Promise<unknown>;
}

export const cloudOf = (context: FlowContext, cpi: string): Cloud => context.clouds.cloud(cpi);
export const agentOf = (context: FlowContext, vm: Pick<VmRecord, "agentId" | "agentUrl">): Agent =>
  context.agents.agent(vm);

/** The context of work on one instance. */
export const aboutInstance = (
  context: FlowContext,
  instance: { readonly group: string; readonly uuid: string } | undefined,
): FlowContext =>
  context.about === undefined || instance === undefined
    ? context
    : { ...context, ...context.about(slug(instance)) };
