import * as v from "valibot";
import type { DirectorApi } from "./director-api.ts";

export const taskWire = v.object({
  id: v.number(),
  state: v.string(),
  description: v.nullish(v.string()),
  timestamp: v.nullish(v.number()),
  started_at: v.nullish(v.number()),
  result: v.nullish(v.string()),
  user: v.nullish(v.string()),
  deployment: v.nullish(v.string()),
});

export type Task = v.InferOutput<typeof taskWire>;

export const RUNNING: readonly string[] = ["queued", "processing", "cancelling"];

export interface TaskFilter {
  readonly deployment: string | undefined;
  /** Also listings, ssh and the like. */
  readonly all: boolean;
  /** The newest so many in any state; undefined: those that run. */
  readonly recent: number | undefined;
}

/** The newest first. */
export async function listTasks(
  api: DirectorApi,
  { deployment, all, recent }: TaskFilter,
): Promise<readonly Task[]> {
  const which = recent === undefined ? { state: "processing,cancelling,queued" } : { limit: String(recent) };
  const tasks = await api.json(
    { method: "GET", path: "/tasks", query: { ...which, verbose: all ? "2" : "1", deployment } },
    v.array(taskWire),
  );
  return [...tasks].sort((a, b) => b.id - a.id);
}
