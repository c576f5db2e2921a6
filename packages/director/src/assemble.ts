import type { Agents } from "@slipway/engine/agents/agent";
import type { FileBlobs } from "@slipway/engine/blobs/directory-blobs";
import type { ConfiguredClouds } from "@slipway/engine/clouds/configured-clouds";
import type { FlowSettings } from "@slipway/engine/steps/context";
import type { RenderPool } from "@slipway/engine/templates/request";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { Documents } from "./documents/documents.ts";
import type { OperationContext } from "./operations/operation.ts";
import { operations } from "./operations/operations.ts";
import type { Db } from "./store/schema.ts";
import { type RunnerOptions, TaskRunner } from "./tasks/runner.ts";

export interface Parts {
  readonly db: Db;
  readonly documents: Documents;
  readonly clouds: ConfiguredClouds;
  readonly agents: Agents;
  readonly nats?: OperationContext["nats"];
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: FlowSettings;
  readonly options: OperationContext["options"];
  readonly uploadsDir: string;
  readonly blobs: FileBlobs;
  /** Renderer of job templates. */
  readonly renderer: RenderPool;
  /** Undefined: the Director keeps variables itself. */
  readonly configServer?: ConfigServer | undefined;
  readonly dns?: OperationContext["dns"];
  readonly tellMonitors?: OperationContext["tellMonitors"];
  readonly proxy?: OperationContext["proxy"];
  readonly ownIps: readonly string[];
  readonly workers?: number | undefined;
  readonly limitBytes?: RunnerOptions["limitBytes"];
  /** True if no other Director uses this store. */
  readonly alone: boolean;
  readonly flushMs?: RunnerOptions["flushMs"];
  /** Watches the free space of the file system that tasks write to. */
  readonly space?: RunnerOptions["space"];
  readonly onOver?: RunnerOptions["onOver"];
  readonly watch?: RunnerOptions["watch"];
  readonly onError: (error: unknown) => void;
  /** Put around the journal of every task: by drivers that watch or break it. */
  readonly journal?: RunnerOptions["journal"];
}

/** The Director without its API server: the part that queues and runs tasks. The simulator puts other parts in. */
export function assemble(parts: Parts): TaskRunner {
  const { db, clock, random, alone, onError, onOver, workers, limitBytes, flushMs, space, watch, journal } =
    parts;
  const works = operations(parts);
  return new TaskRunner({
    db,
    works,
    clock,
    random,
    alone,
    onError,
    onOver,
    workers,
    limitBytes,
    flushMs,
    space,
    watch,
    journal,
  });
}
