import { parseYaml } from "@slipway/engine/documents/yaml";
import { parseCloudConfig } from "@slipway/engine/manifest/cloud-config";
import { parseManifest } from "@slipway/engine/manifest/deployment";
import type { DesiredInstance } from "@slipway/engine/model/goal";
import type { InstanceUuid } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import type { AgentReport, Plan, PlanInput } from "@slipway/engine/plan/model";
import { plan } from "@slipway/engine/plan/plan";
import { appliedSpec } from "@slipway/engine/steps/spec";
import type { Clock } from "@slipway/kernel/clock";
import type { AgentId, DiskCid, StemcellCid, VmCid } from "@slipway/protocol/ids";
import { CLOUD_CONFIG, manifestOf } from "../director/manifests.ts";
import { sketchOf } from "./sketch.ts";

export interface PlanReport {
  /** Milliseconds of each round. */
  readonly newMs: readonly number[];
  readonly sameMs: readonly number[];
}

/** Plans a deployment that is new, then the same once all of it is there. */
export function planBench(instances: number, rounds: number, clock: Clock): PlanReport {
  const fresh = inputOf(instances);
  const newMs: number[] = [];
  const sameMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const first = timed(clock, newMs, () => planned({ ...fresh, ...identities() }));
    if (first.missingVms.length !== instances) throw new Error("not every instance gets a VM");
    const there = { ...fresh, ...identities(), ...recorded(first), firstDeploy: false };
    const again = timed(clock, sameMs, () => planned(there));
    const steps = again.groups.flat().flatMap(({ batches }) => batches.flatMap((one) => one.instances));
    if (again.missingVms.length + steps.length > 0) throw new Error("something changes");
  }
  return { newMs, sameMs };
}

function timed<T>(clock: Clock, into: number[], work: () => T): T {
  const begun = clock.monotonic();
  const result = work();
  into.push(clock.monotonic() - begun);
  return result;
}

function planned(input: PlanInput): Plan {
  const result = plan(input);
  if (!result.ok) throw new Error(JSON.stringify(result.problems.slice(0, 3)));
  return result.plan;
}

function identities(): Pick<PlanInput, "newUuid" | "fraction"> {
  let made = 0;
  return {
    newUuid: () => {
      made += 1;
      return `00000000-0000-4000-8000-${String(made).padStart(12, "0")}` as InstanceUuid;
    },
    fraction: () => 0,
  };
}

function inputOf(instances: number): PlanInput {
  const manifest = parseManifest(parseYaml(manifestOf(sketchOf(instances)), "the manifest"));
  const cloudConfig = parseCloudConfig([parseYaml(CLOUD_CONFIG, "the cloud config")]);
  if (!manifest.ok || !cloudConfig.ok) throw new Error("the sketch is not valid");
  return {
    manifest: manifest.manifest,
    cloudConfig: cloudConfig.cloudConfig,
    instances: [],
    agents: new Map(),
    takenIps: new Map(),
    stemcells: [
      {
        id: 1,
        name: "sim",
        version: "1.1",
        operatingSystem: "sim-os",
        cid: "stemcell-1" as StemcellCid,
        cpi: "" as DesiredInstance["cpi"],
        apiVersion: 3,
      },
    ],
    options: {
      recreate: false,
      recreateDisksCreatedBefore: undefined,
      recreateVmsCreatedBefore: undefined,
      fix: false,
      canaries: undefined,
      maxInFlight: undefined,
      skipDrain: [],
      state: undefined,
    },
    ...identities(),
    director: { name: "sim", enableCpiResizeDisk: false, enableCpiUpdateDisk: false },
    firstDeploy: true,
  };
}

function recorded({ desired }: Plan): Pick<PlanInput, "instances" | "agents"> {
  const instances = desired.map((one, at) => recordOf(one, at + 1));
  const agents = new Map<InstanceUuid, AgentReport>();
  for (const instance of instances) {
    const vm = activeVm(instance);
    if (vm !== undefined)
      agents.set(instance.uuid, { responsive: true, jobState: "running", networks: vm.networks });
  }
  return { instances, agents };
}

function recordOf(desired: DesiredInstance, id: number): InstanceRecord {
  const { uuid, group, index, az, state, bootstrap, ips, persistentDisk, cpi, networks } = desired;
  const cid = `vm-${id}` as VmCid;
  const vm = {
    id,
    cid,
    agentId: `agent-${id}` as AgentId,
    active: true,
    cpi,
    createdAt: 1,
    stemcell: desired.stemcell,
    apiVersion: 2 as const,
    channel: "user-data" as const,
    env: desired.env,
    cloudProperties: desired.cloudProperties,
    networks,
    disks: {},
    agentUrl: "https://10.0.0.10:6868",
    certificateUntil: null,
    ready: true,
  };
  const disk = { id, cid: `disk-${id}` as DiskCid, cpi, active: true, attachedTo: cid, hint: null };
  return {
    id,
    uuid,
    group,
    index,
    az,
    state,
    bootstrap,
    ignore: false,
    updateCompleted: true,
    spec: appliedSpec(desired),
    vms: [vm],
    disks: persistentDisk === null ? [] : [{ ...disk, ...persistentDisk, mounted: true }],
    ips,
  };
}
