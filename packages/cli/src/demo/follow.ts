import { taskEvent } from "@slipway/protocol/director/task-event";
import { matches } from "@slipway/protocol/schema/check";
import type { ApiRequest, DirectorApi } from "../api/director-api.ts";
import { TaskFailed } from "../api/errors.ts";
import { listTasks } from "../api/tasks.ts";

/** Starts a task and waits for its end; reports its current stage in a few words. */
export async function carryOut(
  api: DirectorApi,
  request: ApiRequest,
  tell: (text: string) => void,
): Promise<void> {
  await follow(api, await api.begin(request), tell);
}

export async function follow(api: DirectorApi, task: number, tell: (text: string) => void): Promise<void> {
  await api.follow(task, {
    quiet: true,
    onEvent: (line) => {
      const found = stageOf(line);
      if (found !== undefined) tell(found);
    },
  });
}

/** Returns the step of an instance, or else the stage, from a line of a task's event output. */
export function stageOf(line: string): string | undefined {
  try {
    const found: unknown = JSON.parse(line);
    return matches(taskEvent, found)
      ? (found.data?.status || found.stage || undefined)?.toLowerCase()
      : undefined;
  } catch {
    return undefined;
  }
}

/** Tasks that are under way; after a crash the Director goes on with them by itself. */
export async function unfinishedTasks(api: DirectorApi): Promise<readonly number[]> {
  const tasks = await listTasks(api, { deployment: undefined, all: true, recent: undefined });
  return tasks.map(({ id }) => id);
}

export async function finish(api: DirectorApi, ids: readonly number[]): Promise<void> {
  for (const id of ids)
    await api.follow(id, { quiet: true }).catch((error: unknown) => {
      // How it ended does not matter: what it should have done is done again.
      if (!TaskFailed.is(error)) throw error;
    });
}
