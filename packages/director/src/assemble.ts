import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { Agents } from "./agents/agent.ts";
import type { Clouds } from "./clouds/cloud.ts";
import type { Journal } from "./flows/journal.ts";
import type { FlowSettings } from "./flows/step.ts";
import type { Workshop } from "./operations/operation.ts";
import { operations } from "./operations/operations.ts";
import type { Db } from "./store/schema.ts";
import { TaskRunner } from "./tasks/runner.ts";

export interface Parts {
  readonly db: Db;
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: FlowSettings;
  readonly options: Workshop["options"];
  readonly uploadsDir: string;
  readonly ownIps: readonly string[];
  readonly workers?: number | undefined;
  readonly keepTasks?: number | undefined;
  /** No other Director uses this store. */
  readonly alone: boolean;
  readonly onError: (error: unknown) => void;
}

/** The Director without its doors: what takes tasks and does them. The simulator puts other parts in. */
export function assemble(parts: Parts): TaskRunner {
  const { db, clock, random, alone, onError, workers, keepTasks } = parts;
  return new TaskRunner({ db, works: operations(parts), clock, random, alone, onError, workers, keepTasks });
}
