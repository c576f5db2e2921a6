import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { AgentId, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Agent, AgentAddress, Agents } from "../agents/agent.ts";
import type { Cloud, Clouds } from "../clouds/cloud.ts";
import type { Journal } from "../journal/journal.ts";
import type { AuditEvent } from "../model/audit-event.ts";
import { slug } from "../model/names.ts";
import type { InstanceRecord, VmRecord } from "../model/records.ts";
import type { ConfigServer } from "../variables/config-server.ts";

/** Settings of the Director that steps read. */
export interface FlowSettings {
  readonly directorName: string;
  readonly directorUuid: string;
  /** Director-wide agent env (`blobstores`, `ntp`), under the group's own. */
  readonly agentEnvBosh: JsonObject;
  /** PEM; what VMs trust beside their stemcell's. */
  readonly trustedCerts?: string | undefined;
  readonly agentWaitMs: number;
  readonly maxVmCreateTries: number;
  /** New VMs whose agent never answers stay, to be looked at. Undefined: they never do. */
  readonly keepUnreachableVms: boolean | undefined;
  readonly stopTimeoutMs: number;
  /** Users of new VMs have no password that anybody knows, unless one is given. */
  readonly generateVmPasswords?: boolean | undefined;
}

/** An agent that is to prepare an apply. */
export interface PreparedAgent {
  readonly agentId: AgentId;
  readonly agent: Agent;
  /** Packages only, or rendered jobs too. */
  readonly what: "jobs" | "packages";
  /** The apply spec without jobs and packages. */
  readonly spec: JsonObject;
}

/** Jobs of an instance. */
export interface JobsToRun {
  /**
   * Brings packages and rendered jobs to where the agent of the instance finds them. What is there already is not sent
   * again. Gives the part of the apply spec that names them.
   */
  deliver(instance: InstanceRecord, agent: Agent, signal: AbortSignal): Promise<JsonObject>;
  /**
   * Has an agent fetch and unpack beforehand what `deliver` would send it; the next `deliver` to it does not send that again.
   * Agents that do not know the message are sent everything by `deliver`. Undefined: nothing is prepared.
   */
  readonly prepare?: (instance: InstanceRecord, to: PreparedAgent, signal: AbortSignal) => Promise<void>;
  /** True if the next `deliver` relies on what this agent has prepared. */
  readonly isPrepared?: (agentId: AgentId) => boolean;
}

/** DNS names of all instances of the Director, and their distribution to agents. */
export interface DnsPublisher {
  /** Sees that the agent of a new VM knows them before its jobs run. That it does not take them is no failure. */
  sync(agent: Agent, address: AgentAddress): Promise<void>;
  /** Sends the changes to all agents. Agents that do not take them in time get them later. */
  publish(): Promise<void>;
}

/** Services that steps use. */
export interface Outside {
  readonly clouds: Clouds;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: FlowSettings;
  /** Undefined: instances run nothing. */
  readonly jobs?: JobsToRun | undefined;
  /** Resolves pins. Undefined: no document has any. */
  readonly variables?: Pick<ConfigServer, "byId"> | undefined;
}

/** One task's view of it. */
export interface FlowContext extends Outside {
  readonly journal: Journal;
  readonly deployment: string;
  readonly signal: AbortSignal;
  /** Undefined: instances have no names. */
  readonly names?: DnsPublisher | undefined;
  /** True if the whole deployment is deleted; pre-stop scripts get this as an environment variable. */
  readonly deletesDeployment?: boolean | undefined;
  /** Clouds and agents for calls about one instance, `db/<uuid>`, whose name the task's call log then shows. */
  readonly about?: ((instance: string) => Pick<Outside, "clouds" | "agents">) | undefined;
  /** For the operator who follows the task. */
  readonly warn?: ((message: string) => void) | undefined;
  /** Called for a VM that was to be deleted and no longer existed. */
  readonly gone?: ((vm: VmCid) => void) | undefined;
  /** Called when a CPI was killed during a call of a step, before the step is tried again. */
  readonly interrupted?: (() => void) | undefined;
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
