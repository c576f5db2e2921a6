import type { DirectorApi } from "../api/director-api.ts";
import { TaskFailed } from "../api/errors.ts";
import { listTasks } from "../api/tasks.ts";

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
