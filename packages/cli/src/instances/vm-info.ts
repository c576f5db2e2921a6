import { type InstanceState, instanceState } from "@slipway/protocol/director/instance";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import { taskLines } from "../api/task-lines.ts";

/** A task on the Director, which asks the agents; one JSON line each. */
export async function fetchVmInfos(
  api: DirectorApi,
  deployment: string,
  kind: "instances" | "vms",
): Promise<readonly InstanceState[]> {
  const path = `/deployments/${pathSegment(deployment)}/${kind}`;
  const task = await api.begin({ method: "GET", path, query: { format: "full" } });
  await api.follow(task);
  return await taskLines(api, task, instanceState, `GET ${path}`);
}

/** Upstream's reading: a VM that runs no process has no state of processes. */
export const processState = ({ job_state, processes }: InstanceState): string =>
  job_state === "running" && (processes ?? []).length === 0 ? "" : (job_state ?? "");

export const isRunning = (info: InstanceState): boolean =>
  processState(info) === "running" && (info.processes ?? []).every(({ state }) => state === "running");
