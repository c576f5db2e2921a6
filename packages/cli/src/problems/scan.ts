import { type Problem, problem } from "@slipway/protocol/director/problem";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";

const JSON_TYPE = "application/json";
const pathOf = (deployment: string): string => `/deployments/${pathSegment(deployment)}`;

/** Lets the Director compare the deployment with its cloud; what it has found, in the order of the numbers. */
export async function scanned(api: DirectorApi, deployment: string): Promise<readonly Problem[]> {
  const path = pathOf(deployment);
  await runTask(api, { method: "POST", path: `${path}/scans`, contentType: JSON_TYPE });
  const found = await api.json({ method: "GET", path: `${path}/problems` }, v.array(problem));
  return [...found].sort((a, b) => a.id - b.id);
}

/** Resolutions by problem id; null selects the Director's default. */
export type ChosenResolutions = Readonly<Record<string, string | null>>;

export async function resolve(
  api: DirectorApi,
  deployment: string,
  resolutions: ChosenResolutions,
  overrides: Readonly<Record<string, string>> = {},
): Promise<void> {
  const body = JSON.stringify({
    resolutions,
    ...(Object.keys(overrides).length > 0 && { max_in_flight_overrides: overrides }),
  });
  await runTask(api, {
    method: "PUT",
    path: `${pathOf(deployment)}/problems`,
    body,
    contentType: JSON_TYPE,
  });
}
