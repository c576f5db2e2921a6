import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Agent, Agents } from "../agents/agent.ts";
import type { Cloud, Clouds } from "../clouds/cloud.ts";
import type { AuditEvent } from "../model/audit-event.ts";
import { slug } from "../model/names.ts";
import type { InstanceRecord, VmRecord } from "../model/records.ts";
import type { InstancePlan, StepName } from "../plan/model.ts";
import type { Journal, Writes } from "./journal.ts";

/** Settings of the Director that flows read. */
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
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: FlowSettings;
}

/** One task's view of it. */
export interface FlowContext extends Outside {
  readonly taskId: number;
  readonly deployment: string;
  readonly signal: AbortSignal;
  /** The doors for calls about one instance, `db/<uuid>`, whose name the task's conversation then shows. */
  readonly about?: ((instance: string) => Pick<Outside, "clouds" | "agents">) | undefined;
  /** For the task's debug output. */
  readonly debug: (line: string) => void;
  /** For the task's cpi output. */
  readonly cpiLog: (text: string) => void;
  /** For `bosh events`. */
  readonly audit: (event: AuditEvent) => Promise<unknown>;
}

/** The instance at hand: what it is to become, and what is recorded of it now. */
export interface Subject {
  readonly plan: InstancePlan;
  /** As the steps before have left it. */
  readonly instance: InstanceRecord;
  /** How long it may take to be running: the shorter and the longer time. Null: nobody waits for it. */
  readonly watchMs: readonly [low: number, high: number] | null;
}

/**
 * A step of a flow. Its intent is committed before `run`, its outcome with `record` after it. After a crash in between,
 * `settle` finds out from the intent alone what became of it; without one the step is run again, which must be harmless.
 */
export interface Step<I extends object = object, O = unknown> {
  readonly name: StepName;
  /** True when the records already say what this step would bring about. */
  done?(subject: Subject): boolean;
  /** What will be done, with every id it uses. Undefined: there is nothing to do. */
  intent(subject: Subject, context: FlowContext): I | undefined;
  run(intent: I, context: FlowContext): Promise<O>;
  /** What the outcome changes in the records. Without it they stay as they are. */
  record?(intent: I, outcome: O, writes: Writes): void;
  settle?(intent: I, context: FlowContext): Promise<Settled<O>>;
  /** What the records may no longer claim when it was begun and may or may not have been done. */
  doubt?(intent: I, writes: Writes): void;
  /** No outside call: written at once, without an intent. */
  readonly inward?: boolean;
  /** Begun anew by the plan after a crash: nothing needs to be found out. */
  readonly redo?: boolean;
  /** Begun anew for as long as it finds something to do: one intent per thing. */
  readonly repeats?: boolean;
  /** Whether a failure is worth another try, with an intent of its own. `tries` counts those made. */
  retry?(error: unknown, tries: number, context: FlowContext): boolean;
}

export type Settled<O> =
  | { readonly how: "done"; readonly outcome: O }
  | { readonly how: "undone" }
  | { readonly how: "stray"; readonly stray: Parameters<Writes["addStray"]>[0] };

/** Any step, as the table holds it: its own intents are the only ones it is given. */
export type AnyStep = Step<never, never>;

export const defineStep = <I extends object, O>(step: Step<I, O>): AnyStep => step as unknown as AnyStep;

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
