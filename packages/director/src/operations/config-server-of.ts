import type { ConfigServer } from "@slipway/engine/variables/config-server";
import type { TaskContext } from "../tasks/task.ts";
import { builtInConfigServer } from "../variables/built-in.ts";
import type { OperationContext } from "./operation.ts";

/** Returns the config server that a task asks. */
export const configServerOf = (
  { configServer, db, clock, random }: Pick<OperationContext, "configServer" | "db" | "clock" | "random">,
  task: Pick<TaskContext, "write">,
): ConfigServer =>
  configServer ?? builtInConfigServer({ db, write: (work) => task.write(work), clock, random });
