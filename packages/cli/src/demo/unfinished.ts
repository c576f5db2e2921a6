import { integer, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { TaskFailed } from "../api/errors.ts";

const tasks = v.array(open({ id: integer(1) }));

/** Tasks that are under way; after a crash the Director goes on with them by itself. */
export async function unfinishedTasks(api: DirectorApi): Promise<readonly number[]> {
  const query = { state: "queued,processing,cancelling", verbose: "2" };
  return (await api.json({ method: "GET", path: "/tasks", query }, tasks)).map(({ id }) => id);
}

export async function finish(api: DirectorApi, ids: readonly number[]): Promise<void> {
  for (const id of ids)
    await api.follow(id, { quiet: true }).catch((error: unknown) => {
      // How it ended does not matter: what it should have done is done again.
      if (!TaskFailed.is(error)) throw error;
    });
}
