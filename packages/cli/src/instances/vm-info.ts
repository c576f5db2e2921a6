import { messageTrail } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { OddAnswer } from "../api/errors.ts";
import { piece } from "../api/request-path.ts";

const text = v.nullish(v.string());
const number = v.nullish(v.number());
const share = v.nullish(v.object({ kb: text, percent: text }));
const disk = v.nullish(v.object({ percent: text, inode_percent: text }));

const process = v.object({
  name: v.string(),
  state: v.string(),
  uptime: v.nullish(v.object({ secs: number })),
  mem: v.nullish(v.object({ kb: number, percent: number })),
  cpu: v.nullish(v.object({ total: number })),
});

const vmInfo = v.object({
  vm_cid: text,
  active: v.nullish(v.boolean()),
  vm_created_at: text,
  cloud_properties: v.nullish(v.unknown()),
  disk_cid: text,
  disk_cids: v.nullish(v.array(v.string())),
  ips: v.nullish(v.array(v.string())),
  agent_id: text,
  job_name: text,
  index: number,
  job_state: text,
  state: text,
  vm_type: text,
  resource_pool: text,
  az: text,
  id: text,
  bootstrap: v.nullish(v.boolean()),
  ignore: v.nullish(v.boolean()),
  vitals: v.nullish(
    v.object({
      cpu: v.nullish(v.object({ total: number, sys: text, user: text, wait: text })),
      mem: share,
      swap: share,
      load: v.nullish(v.array(v.string())),
      uptime: v.nullish(v.object({ secs: number })),
      disk: v.nullish(v.object({ system: disk, ephemeral: disk, persistent: disk })),
    }),
  ),
  processes: v.nullish(v.array(process)),
  stemcell: v.nullish(v.object({ name: text, version: text })),
});

export type VmInfo = v.InferOutput<typeof vmInfo>;
export type Process = v.InferOutput<typeof process>;

/** A task on the Director, which asks the agents; one JSON line each. */
export async function fetchVmInfos(
  api: DirectorApi,
  deployment: string,
  kind: "instances" | "vms",
): Promise<readonly VmInfo[]> {
  const path = `/deployments/${piece(deployment)}/${kind}`;
  const task = await api.begin({ method: "GET", path, query: { format: "full" } });
  await api.follow(task);
  const result = await api.output(task, "result");
  return result
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => readLine(line, `GET ${path}`));
}

function readLine(line: string, what: string): VmInfo {
  let document: unknown;
  try {
    document = parseStrictJson(line, "a line");
  } catch (cause) {
    throw OddAnswer({ what, why: messageTrail(cause) });
  }
  const checked = check(vmInfo, document, "line");
  if (!checked.ok) throw OddAnswer({ what, why: checked.problems.join("; ") });
  return checked.value;
}

/** Upstream's reading: a VM that runs no process has no state of processes. */
export const processState = ({ job_state, processes }: VmInfo): string =>
  job_state === "running" && (processes ?? []).length === 0 ? "" : (job_state ?? "");

export const isRunning = (info: VmInfo): boolean =>
  processState(info) === "running" && (info.processes ?? []).every(({ state }) => state === "running");
