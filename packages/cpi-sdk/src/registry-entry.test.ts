import { expectNoSecrets } from "@slipway/testkit/canaries";
import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { deadEndpoint, liveRegistry, wrongRegistry } from "@slipway/testkit/registry";
import {
  ask,
  type CpiRequestParts,
  errorOf,
  NETWORKS,
  resultOf,
  typeOf,
  vmArgs,
} from "@slipway/testkit/requests";
import { quickClock, tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";

const PASSWORD = "CANARY-registry p@ss";
const OLD: CpiRequestParts = { version: 1, stemcell: 1 };

/** Makes a CPI with the given registry, and one VM with one disk. Back-off takes no time. */
function stage(registry: object | undefined) {
  const cloud = new MemoryCloud();
  cloud.vms.set("vm-old", { userData: "", disks: new Set() });
  cloud.disks.add("disk-1");
  const config = registry === undefined ? {} : { registry: { user: "r", password: PASSWORD, ...registry } };
  const client = embed(cloudCpi(cloud), { config, clock: quickClock });
  return {
    cloud,
    request: (method: string, args: readonly unknown[], asked: CpiRequestParts) =>
      client.request(ask(method, args, asked)),
  };
}

describe("without a registry configured", () => {
  const needing: [string, CpiRequestParts][] = [
    ["a Director of version 1", { version: 1, stemcell: 2 }],
    ["a Director that names no version", { version: undefined, stemcell: 2 }],
    ["a stemcell of version 1", { version: 2, stemcell: 1 }],
    ["a stemcell of unknown version", { version: 2, stemcell: undefined }],
    ["a stemcell of version 1 under version 3", { version: 3, stemcell: 1 }],
  ];

  it.each(needing)("create_vm for %s fails before anything is made, and says so", async (_, asked) => {
    for (const registry of [undefined, { endpoint: undefined }]) {
      const { cloud, request } = stage(registry as object | undefined);
      const error = errorOf(await request("create_vm", vmArgs(), asked));
      expect(error).toMatchObject({ type: typeOf("CloudError"), ok_to_retry: false });
      expect(error.message).toMatch(
        /SDK-001 create_vm needs the registry, and none is configured; nothing was changed/,
      );
      expect(cloud.calls).toEqual([]);
      expect(cloud.vms.size).toBe(1);
    }
  });

  it("the same configuration is fine where all three are new", async () => {
    const { cloud, request } = stage(undefined);
    const created = resultOf(await request("create_vm", vmArgs(), {})) as [string];
    expect(created).toEqual([expect.stringMatching(/^vm-/), NETWORKS]);
    for (const [method, args] of [
      ["attach_disk", [created[0], "disk-1"]],
      ["detach_disk", [created[0], "disk-1"]],
      ["delete_vm", [created[0]]],
    ] as const) {
      resultOf(await request(method, args, {}));
    }
    expect(cloud.calls).toEqual(["createVm", "attachDisk", "detachDisk", "deleteVm"]);
  });

  it("attach_disk fails before the disk is touched when only the registry could tell the agent", async () => {
    for (const asked of [OLD, { version: 2, stemcell: 1 }]) {
      const { cloud, request } = stage(undefined);
      expect(errorOf(await request("attach_disk", ["vm-old", "disk-1"], asked)).message).toContain(
        "SDK-001 attach_disk",
      );
      expect(cloud.calls).toEqual([]);
    }
  });

  it("attach_disk works for a stemcell of unknown version: the hint travels with the reply", async () => {
    const { request } = stage(undefined);
    const reply = await request("attach_disk", ["vm-old", "disk-1"], { version: 2, stemcell: undefined });
    expect(resultOf(reply)).toEqual({ path: "/dev/disk-1" });
  });

  it("detach_disk and delete_vm work: there is nothing to take away", async () => {
    const { cloud, request } = stage(undefined);
    cloud.vmOf("vm-old").disks.add("disk-1");
    resultOf(await request("detach_disk", ["vm-old", "disk-1"], OLD));
    resultOf(await request("delete_vm", ["vm-old"], OLD));
    expect(cloud.vms.size).toBe(0);
  });
});

describe("when the registry fails at create_vm", () => {
  it.each<[string, () => Promise<string>, RegExp]>([
    ["answers 500", async () => (await wrongRegistry(() => 500)).endpoint, /500/],
    ["answers 401", async () => (await wrongRegistry(() => 401)).endpoint, /401|credentials/],
    ["answers 400", async () => (await wrongRegistry(() => 400)).endpoint, /400/],
    [
      "cuts the connection",
      async () => (await wrongRegistry(() => "cut")).endpoint,
      /socket hang up|ECONNRESET/,
    ],
    ["is not there", deadEndpoint, /ECONNREFUSED/],
  ])("it %s: the VM is removed and the error returned, without the password", async (_, endpoint, words) => {
    const { cloud, request } = stage({ endpoint: await endpoint() });
    const reply = await request("create_vm", vmArgs(), OLD);
    const error = errorOf(reply);
    expect(error).toMatchObject({ type: typeOf("CloudError"), ok_to_retry: false });
    expect(error.message).toMatch(words);
    expect(error.message).not.toContain("left behind");
    expect(cloud.calls).toEqual(["createVm", "deleteVm"]);
    expect([...cloud.vms.keys()]).toEqual(["vm-old"]);
    expectNoSecrets(JSON.stringify(reply));
  });

  it("an entry that may have been written after all is asked to be deleted", async () => {
    const { endpoint, seen } = await wrongRegistry((method) => (method === "PUT" ? 400 : 200));
    const { request } = stage({ endpoint });
    errorOf(await request("create_vm", vmArgs(), OLD));
    expect(seen).toEqual(["PUT", "DELETE"]);
  });

  it("reports both failures if the author cannot remove the VM either", async () => {
    const cloud = new MemoryCloud();
    const deleteVm = () => {
      throw new Error("the cloud says no");
    };
    const config = { registry: { endpoint: await deadEndpoint() } };
    const client = embed(cloudCpi(cloud, { methods: { deleteVm } }), {
      config,
      clock: quickClock,
    });
    const { message } = errorOf(await client.request(ask("create_vm", vmArgs(), OLD)));
    expect(message).toMatch(/ECONNREFUSED.*left behind \(token [0-9a-f]{32}\): the cloud says no/);
  });
});

describe("an attach that fails in the cloud changes no entry", () => {
  it.each([
    ["an unknown disk", ["vm-old", "disk-x"], "DiskNotFound"],
    ["an unknown VM", ["vm-x", "disk-1"], "VMNotFound"],
  ] as const)("%s", async (_, args, name) => {
    const registry = await liveRegistry();
    await registry.put("vm-old", '{"agent_id":"a"}');
    registry.forget();
    const { request } = stage(registry.section);
    expect(errorOf(await request("attach_disk", args, OLD)).type).toBe(typeOf(name));
    expect(registry.seen).toEqual([]);
    expect(await registry.entry("vm-old")).toEqual({ agent_id: "a" });
  });
});

describe("an entry is cleaned even when the thing was gone before", () => {
  const ENTRY = {
    agent_id: "a",
    disks: { persistent: { "disk-1": "/dev/sdf", "disk-2": "/dev/sdg", "disk-x": "/dev/sdh" } },
  };

  it.each([
    ["a disk that is not attached", "disk-1", "DiskNotAttached"],
    ["a disk that is attached", "disk-2", undefined],
  ] as const)("detach_disk of %s", async (_, disk, name) => {
    const registry = await liveRegistry();
    const { cloud, request } = stage(registry.section);
    cloud.vmOf("vm-old").disks.add("disk-2");
    await registry.put("vm-old", JSON.stringify(ENTRY));
    const reply = await request("detach_disk", ["vm-old", disk], OLD);
    if (name === undefined) resultOf(reply);
    else expect(errorOf(reply).type).toBe(typeOf(name));
    const { [disk]: gone, ...rest } = ENTRY.disks.persistent;
    expect((await registry.entry("vm-old"))?.disks.persistent).toEqual(rest);
  });

  it("delete_vm of a VM that is gone", async () => {
    const registry = await liveRegistry();
    const { request } = stage(registry.section);
    await registry.put("vm-gone", JSON.stringify(ENTRY));
    expect(errorOf(await request("delete_vm", ["vm-gone"], OLD)).type).toBe(typeOf("VMNotFound"));
    expect(await registry.entry("vm-gone")).toBeUndefined();
  });

  it("keeps the entry when the cloud failed: the VM may still exist", async () => {
    const registry = await liveRegistry();
    const cloud = new MemoryCloud();
    const deleteVm = () => {
      throw new Error("the cloud says no");
    };
    const client = embed(cloudCpi(cloud, { methods: { deleteVm } }), {
      config: { registry: registry.section },
    });
    await registry.put("vm-1", JSON.stringify(ENTRY));
    errorOf(await client.request(ask("delete_vm", ["vm-1"], OLD)));
    expect(await registry.entry("vm-1")).toEqual(ENTRY);
  });
});

describe("an entry that cannot be changed", () => {
  it.each([
    ["is missing", undefined, "SDK-005"],
    ["is not JSON", "settings?", "KER-002"],
    ["is not a settings document", '{"agent_id":7}', "SDK-006"],
    ["has an object as system disk", '{"agent_id":"a","disks":{"system":{"path":"/dev/sda"}}}', "SDK-006"],
  ])("because it %s is told, and left as it is", async (_, text, code) => {
    const registry = await liveRegistry();
    const { request } = stage(registry.section);
    if (text !== undefined) await registry.put("vm-old", text);
    registry.forget();
    const { message, type } = errorOf(await request("attach_disk", ["vm-old", "disk-1"], OLD));
    expect(message).toContain(code);
    expect(type).toBe(typeOf("CloudError"));
    expect(registry.seen).toEqual(["GET vm-old"]);
  });

  it("is no trouble if the caller does not know the stemcell: the VM may never have had one", async () => {
    const registry = await liveRegistry();
    const { request } = stage(registry.section);
    const asked = { version: 2, stemcell: undefined };
    expect(resultOf(await request("attach_disk", ["vm-old", "disk-1"], asked))).toEqual({
      path: "/dev/disk-1",
    });
    resultOf(await request("detach_disk", ["vm-old", "disk-1"], asked));
    expect(registry.seen.filter((one) => one.startsWith("PUT"))).toEqual([]);
  });
});

describe("a lost entry", () => {
  it("does not stand in the way of a detach, and a repeat still says that the disk is off", async () => {
    const registry = await liveRegistry();
    const { cloud, request } = stage(registry.section);
    cloud.vmOf("vm-old").disks.add("disk-1");
    expect(resultOf(await request("detach_disk", ["vm-old", "disk-1"], OLD))).toBeNull();
    const again = await request("detach_disk", ["vm-old", "disk-1"], OLD);
    expect(errorOf(again).type).toBe(typeOf("DiskNotAttached"));
  });
});

describe("attaches to one VM at once", () => {
  it("all end up in its entry when they share a state directory", async () => {
    const registry = await liveRegistry();
    const cloud = new MemoryCloud();
    cloud.vms.set("vm-old", { userData: "", disks: new Set() });
    const names = Array.from({ length: 8 }, (_, i) => `disk-${i}`);
    for (const name of names) cloud.disks.add(name);
    await registry.put("vm-old", '{"agent_id":"a"}');
    const config = { registry: registry.section, cloud: { state_dir: await tempDir() } };
    const client = embed(cloudCpi(cloud), { config });
    await Promise.all(
      names.map(async (name) => resultOf(await client.request(ask("attach_disk", ["vm-old", name], OLD)))),
    );
    expect(Object.keys((await registry.entry("vm-old"))?.disks.persistent ?? {}).sort()).toEqual(names);
  });
});
