import { messageTrail } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type InstanceState, instanceState } from "@slipway/protocol/director/instance";
import { check } from "@slipway/protocol/schema/check";
import type { DirectorApi } from "../api/director-api.ts";
import { OddAnswer } from "../api/errors.ts";
import { piece } from "../api/request-path.ts";

/** A task on the Director, which asks the agents; one JSON line each. */
export async function fetchVmInfos(
  api: DirectorApi,
  deployment: string,
  kind: "instances" | "vms",
): Promise<readonly InstanceState[]> {
  const path = `/deployments/${piece(deployment)}/${kind}`;
  const task = await api.begin({ method: "GET", path, query: { format: "full" } });
  await api.follow(task);
  const result = await api.output(task, "result");
  return result
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => readLine(line, `GET ${path}`));
}

function readLine(line: string, what: string): InstanceState {
  let document: unknown;
  try {
    document = parseStrictJson(line, "a line");
  } catch (cause) {
    throw OddAnswer({ what, why: messageTrail(cause) });
  }
  const checked = check(instanceState, document, "line");
  if (!checked.ok) throw OddAnswer({ what, why: checked.problems.join("; ") });
  return checked.value;
}

/** Upstream's reading: a VM that runs no process has no state of processes. */
export const processState = ({ job_state, processes }: InstanceState): string =>
  job_state === "running" && (processes ?? []).length === 0 ? "" : (job_state ?? "");

export const isRunning = (info: InstanceState): boolean =>
  processState(info) === "running" && (info.processes ?? []).every(({ state }) => state === "running");
