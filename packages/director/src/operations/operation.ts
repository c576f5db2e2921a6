import type { Blobs } from "@slipway/engine/blobs/blobs";
import type { ConfiguredClouds } from "@slipway/engine/clouds/configured-clouds";
import { journalWithCpiNames } from "@slipway/engine/journal/cpi-names";
import { type RecordingClients, recordCalls, timed } from "@slipway/engine/recorder/recorder";
import type { FlowContext, Outside } from "@slipway/engine/steps/context";
import type { Renderer, RenderPool } from "@slipway/engine/templates/request";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import type { ProxySettings } from "@slipway/kernel/http/proxy";
import type { Sealer } from "@slipway/kernel/sealer";
import { check } from "@slipway/protocol/schema/check";
import type * as v from "valibot";
import { cloudsNow } from "../cpis/clouds-now.ts";
import type { Documents } from "../documents/documents.ts";
import type { NatsAuthorities } from "../nats/rotation.ts";
import type { Db } from "../store/schema.ts";
import type { TaskContext, TaskWork } from "../tasks/task.ts";
import { configServerOf } from "./config-server-of.ts";
import { namesOf } from "./dns/names.ts";
import type { LocalDns } from "./dns/records.ts";
import { ParamsUnreadable } from "./errors.ts";
import type { TellMonitors } from "./monitor-alerts.ts";
import { mustBeSeen } from "./since-restore.ts";

/** Services that the work of tasks uses. */
export interface OperationContext extends Outside {
  /** Database, for reading. A task writes through `task.write`, which is fenced. */
  readonly db: Db;
  readonly documents: Documents;
  /** Directory of uploads until their task is done, and of unpacked archives. */
  readonly uploadsDir: string;
  /** Releases, compiled packages, rendered templates, logs. */
  readonly blobs: Blobs;
  /** Renders job templates, for this task only. */
  readonly renderer: Renderer;
  /** Hashes texts that may hold secrets, with the key of the state directory. */
  readonly keyedHash: Sealer["keyedHash"];
  /** Undefined: the Director keeps variables itself. */
  readonly configServer?: ConfigServer | undefined;
  readonly options: {
    readonly enableCpiResizeDisk: boolean;
    readonly enableCpiUpdateDisk: boolean;
    readonly enableSnapshots?: boolean | undefined;
    /** CPIs make the networks of the cloud config that say so. */
    readonly enableCpiNetworkManagement?: boolean | undefined;
    /** Subnets of manual networks may be without one. */
    readonly ignoreMissingGateway?: boolean | undefined;
    readonly allowErrandsOnStoppedInstances?: boolean | undefined;
    /** Gateway that clients go through to VMs by ssh. */
    readonly sshGateway?: { readonly host: string; readonly user: string } | undefined;
  };
  /** Returns the proxy for downloads from now on. */
  readonly proxy?: (() => ProxySettings | undefined) | undefined;
  /** Undefined if no monitor listens. */
  readonly tellMonitors?: TellMonitors | undefined;
  /** Undefined: no agent is reached over NATS. */
  readonly nats?: NatsAuthorities | undefined;
  /** Undefined: instances have no names. */
  readonly dns?: LocalDns | undefined;
  /** Addresses no VM may get: the Director's own. */
  readonly ownIps: readonly string[];
  /** Clients for calls about one instance, set while a task runs. */
  readonly about?: RecordingClients["about"];
}

/** The same before a task begins: it finds the CPIs as they are configured then. */
export interface OperationTools extends Omit<OperationContext, "clouds" | "about" | "renderer"> {
  readonly clouds: ConfiguredClouds;
  /** Gives each task a renderer of its own. */
  readonly renderer: RenderPool;
}

/** Defines one type of task: its parameters and its work. */
export function operation<const S extends v.GenericSchema>(
  params: S,
  work: (params: v.InferOutput<S>, task: TaskContext, tools: OperationContext) => Promise<string>,
): (tools: OperationTools) => TaskWork {
  return (tools) => async (given, task) => {
    const checked = check(params, given, "params");
    if (!checked.ok) throw ParamsUnreadable({ task: task.id, problems: checked.problems.join("; ") });
    await mustBeSeen(task, tools.db);
    const write: TaskContext["conversation"] = (line) => task.conversation(line);
    const waits = (message: string) => task.warn(message);
    const clouds = await cloudsNow({
      ...tools,
      variables: configServerOf(tools, task),
      director: tools.settings.directorName,
      signal: task.signal,
    });
    const renderer = tools.renderer.open();
    const recording = {
      ...tools,
      ...recordCalls({ clouds, agents: tools.agents }, tools.clock, write, waits),
      renderer,
    };
    try {
      return await timed(task.type, tools.clock, write, () => work(checked.value, task, recording));
    } finally {
      await renderer.close();
    }
  };
}

/** The view of one task on the world outside. */
export function flowContext(tools: OperationContext, task: TaskContext, deployment: string): FlowContext {
  const { clouds, agents, about, clock, random, settings } = tools;
  return {
    clouds,
    agents,
    about,
    journal: journalWithCpiNames(task.journal, (recorded) => clouds.nameOf(recorded)),
    clock,
    random,
    settings,
    deployment,
    names: namesOf(tools, task),
    signal: task.signal,
    variables: configServerOf(tools, task),
    warn: (message) => task.warn(message),
    debug: (line) => task.debug(line),
    cpiLog: (text) => task.cpi(text),
    audit: (event) => task.audit(event),
  };
}

/** Returns when a task was requested: what was made since is its own work, also after a crash. */
export async function askedAt({ id }: Pick<TaskContext, "id">, { db }: OperationContext): Promise<number> {
  const row = await db.selectFrom("tasks").select("created_at").where("id", "=", id).executeTakeFirst();
  return row?.created_at.getTime() ?? 0;
}

export const deploymentLock = (name: string): string => `lock:deployment:${name}`;
/** Time that upstream waits for the lock of another deploy. */
export const DEPLOYMENT_LOCK_MS = 10_000;
export const releaseLock = (name: string): string => `lock:release:${name}`;
/** Time that upstream waits for an upload of a release. */
export const RELEASE_LOCK_MS = 300_000;
