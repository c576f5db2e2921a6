import { isInRange } from "@slipway/kernel/ip-address";
import { expectEqual, expectTrue } from "../expect.ts";
import type { VM_RULES } from "../rules/vm-rules.ts";
import type { ChecksOf } from "./check.ts";
import type { ResourceTracker } from "./resource-tracker.ts";

const VM_NOT_FOUND = "Bosh::Clouds::VMNotFound";
const NOBODY = "vm-nobody-has";

/** Stemcells and VMs. */
export const VM_CHECKS: ChecksOf<typeof VM_RULES> = {
  "CPI-STEMCELL-001": async (cloud) => {
    const { image, cloudProperties } = cloud.given.stemcell;
    const cid = await cloud.result("create_stemcell", [image, cloudProperties]);
    expectTrue(typeof cid === "string" && cid !== "", `the cid is ${JSON.stringify(cid)}`);
    cloud.remember("delete_stemcell", String(cid));
  },
  "CPI-STEMCELL-002": async (cloud) => {
    const cid = await cloud.newStemcell();
    await cloud.result("delete_stemcell", [cid]);
    await cloud.doneOr("Bosh::Clouds::StemcellNotFound", "delete_stemcell", [cid]);
  },
  "CPI-VM-001": async (cloud) => {
    const made = await cloud.result("create_vm", await cloud.vmArguments());
    const [cid, networks, ...more] = Array.isArray(made) ? (made as readonly unknown[]) : [made];
    if (typeof cid === "string" && cid !== "") cloud.remember("delete_vm", cid);
    expectEqual(Array.isArray(made), cloud.version > 1, "whether the result is a list");
    expectTrue(typeof cid === "string" && cid !== "", `the cid is ${JSON.stringify(cid)}`);
    if (cloud.version === 1) return;
    expectTrue(typeof networks === "object" && networks !== null, `networks: ${JSON.stringify(networks)}`);
    expectEqual(more, [], "what comes after the networks");
  },
  "CPI-VM-002": async (cloud) => {
    const disk = await cloud.newDisk();
    for (const disks of [null, [disk]]) {
      const args = await cloud.vmArguments();
      args[4] = disks;
      const vm = await cloud.vmOf(args);
      expectEqual(await cloud.result("get_disks", [vm]), [], "get_disks");
    }
  },
  "CPI-VM-003": async (cloud) => {
    await cloud.refusal("create_vm", await cloud.vmArguments("stemcell-nobody-has"));
  },
  "CPI-VM-004": async (cloud) => {
    const vm = await cloud.newVm();
    expectEqual(await cloud.result("has_vm", [vm]), true, "has_vm of one that is there");
    await cloud.result("delete_vm", [vm]);
    expectEqual(await cloud.result("has_vm", [vm]), false, "has_vm of one that is deleted");
    for (const cid of [NOBODY, "../etc", "-rf", "a b"])
      expectEqual(await cloud.result("has_vm", [cid]), false, `has_vm of ${cid}`);
  },
  "CPI-VM-005": async (cloud) => {
    const vm = await cloud.newVm();
    await cloud.result("delete_vm", [vm]);
    for (const cid of [vm, NOBODY]) await cloud.doneOr(VM_NOT_FOUND, "delete_vm", [cid]);
  },
  "CPI-VM-006": async (cloud) => {
    const vm = await cloud.vm();
    const tags = {
      name: "db/0",
      deployment: "shop",
      odd: `a "b" 'c' $d\n`,
      long: "x".repeat(2000),
      "k/e.y": "",
    };
    for (const index of ["0", "1"]) await cloud.result("set_vm_metadata", [vm, { ...tags, index }]);
  },
  "CPI-VM-007": async (cloud) => {
    await cloud.result("reboot_vm", [await cloud.vm()]);
    await cloud.refusal("reboot_vm", [NOBODY], VM_NOT_FOUND);
  },
  "CPI-VM-008": async (cloud) => {
    const method = "calculate_vm_cloud_properties";
    const wanted = { cpu: 1, ram: 256, ephemeral_disk_size: 1024 };
    await cloud.result(method, [wanted]);
    for (const one of [wanted, { ...wanted, cpu: 100_000, ram: 1_000_000_000 }]) {
      const { error, result } = await cloud.ask(method, [one]);
      if (error !== null) continue;
      const args = await cloud.vmArguments();
      args[2] = { ...(result as object), ...cloud.given.vmProperties };
      await cloud.vmOf(args);
    }
    await cloud.refusal(method, [{ cpu: 1, ram: 256 }]);
  },
  "CPI-NETWORK-001": async (cloud) => {
    const gone = ["Bosh::Clouds::NotSupported", "Bosh::Clouds::NotImplemented"];
    await cloud.refusal("configure_networks", [await cloud.vm(), {}], ...gone);
  },
  "CPI-NETWORK-002": async (cloud) => {
    const made = [await newNetwork(cloud), await newNetwork(cloud)];
    for (const key of ["cid", "range"] as const)
      expectEqual(new Set(made.map((one) => one[key])).size, made.length, `different ${key}s`);
    for (const { cid } of made) await cloud.result("delete_network", [cid]);
    for (const { cid } of made) await cloud.doneOr("Bosh::Clouds::NetworkNotFound", "delete_network", [cid]);
  },
};

/** One whose range the CPI chooses: it has to say which, since the Director gives out its addresses. */
async function newNetwork(cloud: ResourceTracker): Promise<{ readonly cid: string; readonly range: string }> {
  const definition = { type: "manual", netmask_bits: 24, cloud_properties: {} };
  const made = await cloud.result<unknown[]>("create_network", [definition]);
  const [cid, subnet, properties] = made;
  cloud.remember("delete_network", String(cid));
  const shape = [made.length, typeof cid, typeof subnet, typeof properties];
  expectEqual(shape, [3, "string", "object", "object"], "it");
  const { range = "", gateway } = subnet as { readonly range?: string; readonly gateway?: string };
  const first = range.replace(/\/.*/, "");
  expectTrue(isInRange(range, first), `its range is ${JSON.stringify(range)}`);
  if (gateway) expectTrue(isInRange(range, gateway), `its gateway ${gateway} is not in ${range}`);
  return { cid: String(cid), range };
}
