import { type Task, task } from "@slipway/protocol/director/task";
import * as v from "valibot";
import type { DirectorApi } from "./director-api.ts";

export const RUNNING: readonly string[] = ["queued", "processing", "cancelling"];

export interface TaskQuery {
  readonly deployment: string | undefined;
  /** Includes listings, ssh and the like. */
  readonly all: boolean;
  /** The newest so many in any state; undefined: those that run. */
  readonly recent: number | undefined;
}

/** The newest first. */
export async function listTasks(
  api: DirectorApi,
  { deployment, all, recent }: TaskQuery,
): Promise<readonly Task[]> {
  const which = recent === undefined ? { state: "processing,cancelling,queued" } : { limit: String(recent) };
  const tasks = await api.json(
    { method: "GET", path: "/tasks", query: { ...which, verbose: all ? "2" : "1", deployment } },
    v.array(task),
  );
  return [...tasks].sort((a, b) => b.id - a.id);
}
