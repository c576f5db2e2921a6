import type { OperationTools } from "./operations/operation.ts";
import { operations } from "./operations/operations.ts";
import { type RunnerOptions, TaskRunner } from "./tasks/runner.ts";

/** Options of the queue, and the services of the operations. */
export type Parts = Omit<RunnerOptions, "works"> & OperationTools;

/** The Director without its API server: the part that queues and runs tasks. The simulator puts other parts in. */
export const assemble = (parts: Parts): TaskRunner => new TaskRunner({ ...parts, works: operations(parts) });
