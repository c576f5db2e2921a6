import { SlipwayError } from "@slipway/kernel/errors";
import type { ApiRequest, DirectorApi, TaskOutcome } from "./director-api.ts";
import { TaskFailed } from "./errors.ts";
import { refusalOf } from "./refusal.ts";

/** Starts a task and follows it to its end. */
export const runTask = async (api: DirectorApi, request: ApiRequest): Promise<TaskOutcome> =>
  await api.follow(await api.begin(request));

/** Upstream's rule of deleting: what is no longer listed after a failure was deleted, by whomever. */
export async function runDeletion(
  api: DirectorApi,
  request: ApiRequest,
  stillThere: () => Promise<boolean>,
): Promise<void> {
  try {
    await runTask(api, request);
  } catch (error) {
    const failed = refusalOf(error) !== undefined || TaskFailed.is(error);
    if (!(error instanceof SlipwayError) || !failed || (await stillThere())) throw error;
  }
}
