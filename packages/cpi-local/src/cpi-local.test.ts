import { appendFileSync, statSync } from "node:fs";
import { CPI_METHOD_NAMES } from "@slipway/protocol/cpi/methods";
import { isAlive, LocalCloud, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const trouble = await sandboxTrouble();
let cloud: LocalCloud;

beforeAll(async () => {
  cloud = await LocalCloud.open();
});
afterAll(() => cloud.close());

describe.runIf(needs("userns", trouble === undefined, trouble))("a VM of the local CPI", () => {
  it("is a sandbox that outlives the call, and leaves nothing after delete_vm", async () => {
    const vm = await cloud.newVm();
    const pid = cloud.pid(vm);
    expect(isAlive(pid)).toBe(true);
    expect(await cloud.result("has_vm", [vm])).toBe(true);
    await cloud.result("delete_vm", [vm]);
    expect(await cloud.result("has_vm", [vm])).toBe(false);
    expect(isAlive(pid)).toBe(false);
    expect(await cloud.traces()).toEqual([]);
    expect(await cloud.refusal("delete_vm", [vm])).toContain("VMNotFound");
  });

  it("is made once, however often the same request comes", async () => {
    const args = cloud.vmArguments(await cloud.newStemcell());
    const [first] = await cloud.result<[string]>("create_vm", args, "the-same-request");
    const pid = cloud.pid(first);
    const [second] = await cloud.result<[string]>("create_vm", args, "the-same-request");
    expect([second, cloud.pid(second)]).toEqual([first, pid]);
    await cloud.agentStarts(first, 1);
    expect(cloud.starts(first)).toBe(1);
    await cloud.result("delete_vm", [first]);
  });

  it("starts again after reboot_vm, running or not, with another process", async () => {
    const vm = await cloud.newVm();
    const first = cloud.pid(vm);
    await cloud.result("reboot_vm", [vm]);
    await cloud.agentStarts(vm, 2);
    const second = cloud.pid(vm);
    expect(second).not.toBe(first);
    expect(isAlive(first)).toBe(false);
    // As after a reboot of the host.
    process.kill(second, "SIGKILL");
    await expect.poll(() => isAlive(second)).toBe(false);
    expect(await cloud.result("has_vm", [vm])).toBe(true);
    await cloud.result("reboot_vm", [vm]);
    await cloud.agentStarts(vm, 3);
    await cloud.result("delete_vm", [vm]);
  });

  it("keeps its settings from other users", async () => {
    const vm = await cloud.newVm();
    expect(statSync(cloud.vm(vm, "user-data.json")).mode & 0o777).toBe(0o600);
    expect(statSync(cloud.vm(vm)).mode & 0o777).toBe(0o700);
    await cloud.result("delete_vm", [vm]);
  });

  it("has a log that get_vm_log gives, running or not, without the credentials of its settings", async () => {
    const mbus = "https://user:a-password-of-the-bus@127.0.0.1:6868";
    const args = cloud.vmArguments(await cloud.newStemcell());
    const [vm] = await cloud.result<[string]>(
      "create_vm",
      args.with(5, { bosh: { mbus: { urls: [mbus] } } }),
    );
    await cloud.agentStarts(vm, 1);
    appendFileSync(cloud.vm(vm, "agent.log"), `an agent that talks of ${mbus}\nthe last line\n`);
    expect(await cloud.result<string>("get_vm_log", [vm])).toMatch(/the last line\n$/);
    process.kill(cloud.pid(vm), "SIGKILL");
    const log = () => cloud.result<string>("get_vm_log", [vm]);
    await expect
      .poll(log)
      .toMatch(/an agent that talks of <redacted>\nthe last line\n(.*\n)*the VM is off\n$/);
    await cloud.result("delete_vm", [vm]);
    expect(await cloud.refusal("get_vm_log", [vm])).toContain("VMNotFound");
  });

  it("without a stemcell is an error, and nothing is left", async () => {
    expect(await cloud.refusal("create_vm", cloud.vmArguments("stemcell-none"))).toContain(
      "StemcellNotFound",
    );
    expect(await cloud.traces()).toEqual([]);
  });
});

describe("the local CPI", () => {
  it("has every method of the contract that is not for others", async () => {
    const unknown: string[] = [];
    for (const method of CPI_METHOD_NAMES) {
      const { error } = await cloud.ask(method, []);
      if (error?.type === "Bosh::Clouds::NotImplemented") unknown.push(method);
    }
    // The cid of the CPI's own host is unknown.
    expect(unknown).toEqual(["current_vm_id"]);
  });

  it("cannot be led out of its directory by a cid", async () => {
    for (const [method, args] of [
      ["has_disk", ["../../etc"]],
      ["has_vm", ["../disks"]],
    ] as const)
      expect(await cloud.result(method, args)).toBe(false);
    expect(await cloud.refusal("delete_disk", ["../vms"])).toContain("DiskNotFound");
    expect(await cloud.refusal("delete_vm", [".."])).toContain("VMNotFound");
  });

  it("answers a request for resources with a VM type", async () => {
    const desired = { cpu: 2, ram: 1024, ephemeral_disk_size: 4096 };
    expect(await cloud.result("calculate_vm_cloud_properties", [desired])).toEqual(desired);
  });

  it("gives networks without a range one that is free", async () => {
    const create = (definition: object) => cloud.result<[string, object]>("create_network", [definition]);
    const [first, one] = await create({ type: "manual" });
    const [, other] = await create({ type: "manual" });
    expect(one).toEqual({ range: "127.200.0.0/24", gateway: "127.200.0.1", reserved: [] });
    expect(other).not.toEqual(one);
    const [, asked] = await create({ type: "manual", range: "10.5.0.0/24", gateway: "10.5.0.254" });
    expect(asked).toMatchObject({ range: "10.5.0.0/24", gateway: "10.5.0.254" });
    const [sized, small] = await create({ type: "manual", netmask_bits: 28 });
    expect(small).toEqual({ range: "127.202.0.0/28", gateway: "127.202.0.1", reserved: [] });
    await cloud.result("delete_network", [sized]);
    expect(await cloud.refusal("create_network", [{ type: "manual", netmask_bits: 8 }])).toContain(
      "NotSupported",
    );
    await cloud.result("delete_network", [first]);
    expect(await cloud.refusal("delete_network", [first])).toContain("NetworkNotFound");
    expect((await create({ type: "manual" }))[1]).toEqual(one);
  });
});
