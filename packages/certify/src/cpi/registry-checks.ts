import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { agentSettings } from "@slipway/protocol/settings/agent-settings";
import { parseUserData } from "@slipway/protocol/settings/user-data";
import { CannotTell, expectEqual, expectTrue } from "../expect.ts";
import type { REGISTRY_RULES } from "../rules/registry-rules.ts";
import type { ChecksOf, RegistryView } from "./check.ts";
import type { CallVariation, ResourceTracker } from "./resource-tracker.ts";

/** A caller of version 1 knows no versions of stemcells. */
const OLD: CallVariation = { apiVersion: 1, stemcell: 1 };
const OLD_CALL: CallVariation = { apiVersion: 1, stemcell: 2 };
const OLD_STEMCELL: CallVariation = { apiVersion: 2, stemcell: 1 };
const NEW: CallVariation = { apiVersion: 2, stemcell: 2 };
const ENV = { bosh: { group: "shop-db", tags: { team: "a" } }, persistent_disk_fs: "xfs" };

function registryOf(cloud: ResourceTracker): RegistryView {
  const { registry } = cloud.given;
  if (registry === undefined)
    throw new CannotTell(
      "the CPI is run without a registry: no --config, or `registry: none` in the cloud file",
    );
  return registry;
}

async function userDataOf(cloud: ResourceTracker, vm: string): Promise<string> {
  const { userData } = cloud.given;
  if (userData === undefined) throw new CannotTell("the cloud file has no observe.user_data");
  return await userData(vm);
}

interface Made {
  readonly vm: string;
  readonly result: unknown;
  readonly args: readonly unknown[];
  /** Requests that the call has caused, such as `PUT`. */
  readonly writes: readonly string[];
  /** Key of the VM's entry. */
  readonly key: string;
}

async function make(cloud: ResourceTracker, asking: CallVariation, env: object = {}): Promise<Made> {
  const registry = registryOf(cloud);
  const args = await cloud.vmArguments(undefined, env);
  const before = registry.requests().length;
  const result = await cloud.result("create_vm", args, asking);
  const vm = String(Array.isArray(result) ? result[0] : result);
  cloud.remember("delete_vm", vm, asking);
  const seen = registry
    .requests()
    .slice(before)
    .filter(({ method }) => method !== "GET");
  return { vm, result, args, writes: seen.map(({ method }) => method), key: seen[0]?.key ?? vm };
}

interface Entry {
  readonly disks?: { readonly persistent?: Readonly<Record<string, unknown>> };
}

async function entryOf(cloud: ResourceTracker, key: string): Promise<Entry> {
  const content = await registryOf(cloud).entry(key);
  if (content === undefined) throw new Error(`the registry has no entry ${key}`);
  return parseStrictJson(content, "the registry entry") as Entry;
}

const persistent = async (cloud: ResourceTracker, key: string) =>
  (await entryOf(cloud, key)).disks?.persistent ?? {};

/** Checks what is kept in the registry and in user-data. They choose versions themselves. */
export const REGISTRY_CHECKS: ChecksOf<typeof REGISTRY_RULES> = {
  "CPI-REGISTRY-001": async (cloud) => {
    const { result, writes } = await make(cloud, OLD_CALL);
    expectEqual(typeof result, "string", "type of the result");
    expectEqual(writes, ["PUT"], "requests to the registry");
  },
  "CPI-REGISTRY-002": async (cloud) => {
    const { result, writes } = await make(cloud, OLD_STEMCELL);
    expectEqual(Array.isArray(result), true, "whether the result is a list");
    expectEqual(writes, ["PUT"], "requests to the registry");
  },
  "CPI-REGISTRY-003": async (cloud) => {
    const { writes } = await make(cloud, { apiVersion: 2, stemcell: null });
    expectEqual(writes, ["PUT"], "requests to the registry");
  },
  "CPI-REGISTRY-004": async (cloud) => {
    const registry = registryOf(cloud);
    const before = registry.requests().length;
    const vm = await cloud.newVm(NEW);
    const disk = await cloud.newDisk();
    for (const method of ["attach_disk", "detach_disk"]) await cloud.result(method, [vm, disk], NEW);
    await cloud.result("delete_vm", [vm], NEW);
    const caused = registry
      .requests()
      .slice(before)
      .map(({ method, key }) => `${method} ${key}`);
    expectEqual(caused, [], "requests to the registry");
  },
  "CPI-REGISTRY-005": async (cloud) => {
    const { vm, key } = await make(cloud, OLD);
    const [first, second] = [await cloud.newDisk(), await cloud.newDisk()];
    for (const disk of [first, second]) await cloud.result("attach_disk", [vm, disk], OLD);
    const both = await persistent(cloud, key);
    expectEqual(Object.keys(both).sort(), [first, second].sort(), "disks in the entry");
    await cloud.result("detach_disk", [vm, first], OLD);
    expectEqual(await persistent(cloud, key), { [second]: both[second] }, "disks after detach_disk");
  },
  "CPI-REGISTRY-006": async (cloud) => {
    const { vm, key } = await make(cloud, OLD);
    await entryOf(cloud, key);
    await cloud.result("delete_vm", [vm], OLD);
    expectEqual(await registryOf(cloud).entry(key), undefined, "the entry");
  },
  "CPI-REGISTRY-007": async (cloud) => {
    const { vm, key } = await make(cloud, OLD_STEMCELL);
    const disk = await cloud.newDisk();
    const hint = await cloud.result("attach_disk", [vm, disk], OLD_STEMCELL);
    expectEqual((await persistent(cloud, key))[disk], hint, "the hint in the registry");
  },
  "CPI-REGISTRY-008": async (cloud) => {
    const { without } = registryOf(cloud);
    const args = await cloud.vmArguments();
    const asking = { ...OLD, cpi: without };
    const { error, result } = await cloud.ask("create_vm", args, asking);
    if (error === null) cloud.remember("delete_vm", String(result), asking);
    expectTrue(error !== null, "create_vm is not refused");
  },
  "CPI-REGISTRY-009": async (cloud) => {
    const registry = registryOf(cloud);
    const before = registry.requests().length;
    const asking = { ...OLD, cpi: registry.refusing };
    const { error, result } = await cloud.ask("create_vm", await cloud.vmArguments(), asking);
    if (error === null) cloud.remember("delete_vm", String(result), OLD);
    expectTrue(error !== null, "create_vm is not refused");
    const tried = registry
      .requests()
      .slice(before)
      .find(({ method }) => method === "PUT");
    if (tried === undefined) throw new CannotTell("the CPI did not try to write an entry");
    expectEqual(await cloud.result("has_vm", [tried.key]), false, `has_vm of ${tried.key}`);
  },
  "CPI-REGISTRY-010": async (cloud) => {
    const { key, args } = await make(cloud, OLD, ENV);
    const entry = await entryOf(cloud, key);
    const checked = check(agentSettings, entry, "entry");
    if (!checked.ok) throw new Error(checked.problems.join("; "));
    expectEqual(checked.value.agent_id, args[0], "agent_id");
    expectEqual(checked.value.env, ENV, "env");
  },
  "CPI-USERDATA-001": async (cloud) => {
    const args = await cloud.vmArguments(undefined, ENV);
    const vm = await cloud.vmOf(args, NEW);
    const parsed = parseUserData(await userDataOf(cloud, vm));
    if (!parsed.ok) throw new Error(parsed.problems.join("; "));
    if (parsed.userData.form !== "settings") throw new Error("it has no agent_id");
    expectEqual(parsed.userData.settings.agent_id, args[0], "agent_id");
    expectEqual(parsed.userData.settings.env, ENV, "env");
  },
  "CPI-USERDATA-002": async (cloud) => {
    const { vm } = await make(cloud, OLD);
    const parsed = parseUserData(await userDataOf(cloud, vm));
    if (!parsed.ok) throw new Error(parsed.problems.join("; "));
    expectEqual(parsed.userData.form, "registry", "what it leads to");
  },
};
