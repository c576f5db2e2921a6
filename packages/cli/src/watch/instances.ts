import type { Health, InstanceHealth } from "@slipway/protocol/director/health";
import type { instance as instanceWire } from "@slipway/protocol/director/instance";
import type * as v from "valibot";
import { ADVICE } from "../api/task-failure.ts";
import type { HealthLevel, WatchedInstance, WatchedVitals } from "./model.ts";

export type Recorded = v.InferOutput<typeof instanceWire>;

const LEVEL: Readonly<Record<string, HealthLevel>> = {
  healthy: "well",
  unfinished: "busy",
  unknown: "quiet",
  ignored: "quiet",
  detached: "quiet",
  idle: "quiet",
};

const SILENT = ["unresponsive", "no_vm"];

const keyOf = (deployment: string, group: string, id: string) => `${deployment} ${group}/${id}`;

/** Combines the records of instances with the health monitor's view of them. */
export function instancesOf(
  recorded: ReadonlyMap<string, readonly Recorded[]>,
  health: Health | undefined,
): readonly WatchedInstance[] {
  const judged = new Map(
    (health?.instances ?? []).map((one) => [keyOf(one.deployment, one.instance_group, one.id), one]),
  );
  return [...recorded].flatMap(([deployment, all]) =>
    all.map((one) => instanceOf(deployment, one, judged.get(keyOf(deployment, one.job, one.id)))),
  );
}

function instanceOf(deployment: string, one: Recorded, judged: InstanceHealth | undefined): WatchedInstance {
  const without = (one.cid ?? "") === "";
  const common = {
    key: keyOf(deployment, one.job, one.id),
    deployment,
    group: one.job,
    index: one.index,
    id: one.id,
    az: one.az ?? "",
    ips: one.ips ?? [],
    vm: one.cid ?? "",
  };
  if (judged === undefined)
    return {
      ...common,
      state: without ? withoutVmText(one) : "unknown",
      level: without && one.expects_vm !== false ? "busy" : "quiet",
      since: undefined,
      problems: [],
      action: "",
      processes: [],
      vitals: {},
    };
  const level = LEVEL[judged.health] ?? "bad";
  // What it said before it fell silent holds no longer.
  const silent = SILENT.includes(judged.health);
  return {
    ...common,
    state: stateText(judged),
    level,
    since: level === "well" ? undefined : timeOf(judged.since),
    // What to type next would fill the window; `slipway health` has it.
    problems: judged.problems.map((problem) => problem.split(ADVICE)[0] ?? problem),
    action: judged.action ?? "",
    processes: silent ? [] : (judged.processes ?? []),
    vitals: silent ? {} : vitalsOf(judged),
  };
}

const withoutVmText = ({ expects_vm, errand }: Recorded): string =>
  expects_vm === false ? (errand ? "idle" : "detached") : "no vm";

/** Returns the state of a healthy instance's processes; its own state if it is not started; else its health. */
function stateText({ health, state, job_state }: InstanceHealth): string {
  if (health !== "healthy") return health.replaceAll("_", " ");
  return state === "started" ? job_state || "running" : state;
}

function vitalsOf({ vitals }: InstanceHealth): WatchedVitals {
  if (!vitals) return {};
  const { cpu, load, memory, disk } = vitals;
  const disks = [disk.system, disk.ephemeral, disk.persistent].filter((one) => one !== undefined);
  return { cpu, load, memory, disk: disks.length === 0 ? undefined : Math.max(...disks) };
}

function timeOf(text: string | null | undefined): number | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : at;
}
