import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAttachDiskResult } from "@slipway/protocol/cpi/attach-disk-result";
import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import { parseCreateVmResult } from "@slipway/protocol/cpi/create-vm-result";
import { draftResult } from "@slipway/protocol/cpi/draft-results";
import { matches } from "@slipway/protocol/schema/check";
import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { liveRegistry } from "@slipway/testkit/registry";
import {
  ask,
  type CpiRequestParts,
  errorOf,
  NETWORKS,
  resultOf,
  typeOf,
  vmArgs,
} from "@slipway/testkit/requests";
import { tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { exampleRequest } from "./testing/examples.ts";

const ALL: Capabilities = {
  create_vm_result: "networks+disks",
  attach_disk_takes_disks: true,
  attach_disk_result: "disks",
  detach_disk_returns_disks: true,
  bootstrap_settings_arg: true,
};
const RECORDED = { system: "/dev/sda", ephemeral: "/dev/sdb", persistent: { "disk-0": "/dev/sdc" } };
const HINT = { path: "/dev/disk-1" };

/** A CPI of these capabilities, one VM and one disk. */
function stage(capabilities: Capabilities | undefined, config = {}) {
  const cloud = new MemoryCloud();
  cloud.vms.set("vm-old", { userData: "", disks: new Set() });
  cloud.disks.add("disk-1");
  const client = embed(cloudCpi(cloud, capabilities === undefined ? {} : { capabilities }), { config });
  const request = (method: string, args: readonly unknown[], asked?: CpiRequestParts) =>
    client.request(ask(method, args, asked));
  return { cloud, request };
}

describe("the result of create_vm", () => {
  const MADE = { system: "/dev/sda", ephemeral: "/dev/sdb", persistent: {} };

  it.each<[string, Capabilities | undefined, readonly unknown[], string]>([
    ["nothing announced", undefined, [NETWORKS], "shipped"],
    ["an empty announcement", {}, [NETWORKS], "shipped"],
    ["networks", { create_vm_result: "networks" }, [NETWORKS], "shipped"],
    ["disks, as in draft A", { create_vm_result: "disks" }, [MADE], "draft-a"],
    [
      "networks and disks, as in draft B",
      { create_vm_result: "networks+disks" },
      [NETWORKS, MADE],
      "draft-b",
    ],
  ])("follows what is announced: %s", async (_, capabilities, rest, dialect) => {
    for (const version of [2, 3] as const) {
      const { request } = stage(capabilities);
      const result = resultOf(await request("create_vm", vmArgs(), { version }));
      expect(result).toEqual([expect.stringMatching(/^vm-/), ...rest]);
      expect(parseCreateVmResult(result, { apiVersion: version, networks: NETWORKS as never })).toMatchObject(
        {
          ok: true,
          vm: { dialect },
        },
      );
    }
  });
});

describe("attach_disk", () => {
  it("takes the disks as third argument when announced, and hands them to the author", async () => {
    const seen: unknown[] = [];
    const attachDisk = (args: unknown, call: { request: { disks: unknown } }) => {
      seen.push(args, call.request.disks);
      return HINT;
    };
    const cpi = cloudCpi(new MemoryCloud(), {
      capabilities: { attach_disk_takes_disks: true },
      methods: { attachDisk },
    });
    const reply = await embed(cpi).request(ask("attach_disk", ["vm-old", "disk-1", RECORDED]));
    expect(resultOf(reply)).toEqual(HINT);
    expect(seen).toEqual([{ vmCid: "vm-old", diskCid: "disk-1", bootstrap: undefined }, RECORDED]);
  });

  it("still takes two, and then uses the disks of the context", async () => {
    const { request } = stage(ALL);
    const context = { vm: { stemcell: { api_version: 2 }, disks: RECORDED } };
    expect(resultOf(await request("attach_disk", ["vm-old", "disk-1"], { context }))).toEqual({
      ...RECORDED,
      persistent: { "disk-0": "/dev/sdc", "disk-1": HINT },
    });
    expect(resultOf(await request("attach_disk", ["vm-old", "disk-1"]))).toEqual({
      persistent: { "disk-1": HINT },
    });
  });

  it("returns all disks with the new one when announced, as our Director reads them", async () => {
    const { request } = stage({ attach_disk_takes_disks: true, attach_disk_result: "disks" });
    const result = resultOf(await request("attach_disk", ["vm-old", "disk-1", RECORDED]));
    expect(result).toEqual({ ...RECORDED, persistent: { "disk-0": "/dev/sdc", "disk-1": HINT } });
    expect(parseAttachDiskResult(result, { apiVersion: 2, diskCid: "disk-1" as never })).toMatchObject({
      ok: true,
      disk: { dialect: "draft-b", hint: { path: HINT.path } },
    });
  });

  it.each<[string, Capabilities | undefined]>([
    ["nothing is announced", undefined],
    ["only other drafts are", { create_vm_result: "disks", detach_disk_returns_disks: true }],
  ])("refuses a third argument when %s", async (_, capabilities) => {
    const { cloud, request } = stage(capabilities);
    for (const version of [1, 2, 3]) {
      const error = errorOf(await request("attach_disk", ["vm-old", "disk-1", RECORDED], { version }));
      expect(error.type).toBe(typeOf("CpiError"));
      expect(error.message).toContain("attach_disk takes 2");
    }
    expect(cloud.calls).toEqual([]);
  });

  it.each([null, "disks", [], { system: { path: "/dev/sda" } }, { persistent: { "disk-0": 7 } }])(
    "refuses %j as disks",
    async (disks) => {
      const { cloud, request } = stage(ALL);
      const error = errorOf(await request("attach_disk", ["vm-old", "disk-1", disks]));
      expect(error.type).toBe(typeOf("CpiError"));
      expect(error.message).toContain("arguments[2] (disks)");
      expect(cloud.calls).toEqual([]);
    },
  );
});

describe("detach_disk", () => {
  it("takes and returns the disks when announced", async () => {
    const { cloud, request } = stage({ detach_disk_returns_disks: true });
    cloud.vmOf("vm-old").disks.add("disk-1");
    const before = { ...RECORDED, persistent: { ...RECORDED.persistent, "disk-1": HINT } };
    expect(resultOf(await request("detach_disk", ["vm-old", "disk-1", before]))).toEqual(RECORDED);
  });

  it("returns null otherwise, and refuses a third argument", async () => {
    const { cloud, request } = stage({ attach_disk_takes_disks: true });
    cloud.vmOf("vm-old").disks.add("disk-1");
    expect(errorOf(await request("detach_disk", ["vm-old", "disk-1", RECORDED])).message).toContain(
      "takes 2",
    );
    expect(resultOf(await request("detach_disk", ["vm-old", "disk-1"]))).toBeNull();
  });
});

describe("results are checked whatever is announced", () => {
  const request = ask("create_vm", vmArgs(), { requestId: "cpi-0123456789abcdef" });

  it.each<[string, Capabilities | undefined]>([
    ["nothing", undefined],
    ["an empty announcement", {}],
    ["what is no dialect", { repeats_by_request_id: true }],
    ["networks and disks", { create_vm_result: "networks+disks" }],
    ["disks", { create_vm_result: "disks" }],
  ])("a remembered result that was damaged is not passed on: %s", async (_, capabilities) => {
    const cloud = new MemoryCloud();
    const dir = await tempDir();
    const config = { cloud: { state_dir: dir } };
    const client = embed(cloudCpi(cloud, capabilities === undefined ? {} : { capabilities }), { config });
    resultOf(await client.request(request));
    const records = join(dir, "requests");
    for (const name of (await readdir(records)).filter((one) => one.endsWith(".json"))) {
      const kept = JSON.parse(await readFile(join(records, name), "utf8")) as object;
      const result = { cid: cloud.vm.cid, networks: "none", disks: ["none"] };
      await writeFile(join(records, name), JSON.stringify({ ...kept, result }));
    }
    const error = errorOf(await client.request(request));
    expect(error.type).toBe(typeOf("CpiError"));
    expect(error.message).toContain("broke its contract");
  });

  it.each<[string, Capabilities, unknown, boolean]>([
    ["create_vm", { create_vm_result: "disks" }, ["vm-1", { system: "/dev/sda" }], true],
    ["create_vm", { create_vm_result: "disks" }, ["vm-1", { system: 7 }], false],
    ["create_vm", { create_vm_result: "disks" }, ["vm-1", NETWORKS, {}], false],
    ["create_vm", { create_vm_result: "networks+disks" }, ["vm-1", NETWORKS, {}], true],
    ["create_vm", { create_vm_result: "networks+disks" }, ["vm-1", NETWORKS], false],
    ["attach_disk", { attach_disk_result: "disks" }, { persistent: { "disk-1": HINT } }, true],
    ["attach_disk", { attach_disk_result: "disks" }, { persistent: { "disk-1": 7 } }, false],
    ["detach_disk", { detach_disk_returns_disks: true }, { persistent: {} }, true],
    ["detach_disk", { detach_disk_returns_disks: true }, null, false],
  ])("%s of %j: %j fits: %s", (method, capabilities, result, fits) => {
    const schema = draftResult(method, 2, capabilities);
    expect(schema === undefined ? "the shipped one" : matches(schema, result)).toBe(fits);
    expect(draftResult(method, 1, capabilities)).toBeUndefined();
    expect(draftResult(method, 2, {})).toBeUndefined();
  });
});

describe("create_vm with bootstrap settings in third place", () => {
  it("gives the agent those settings, with networks, disks and env of this VM", async () => {
    const { cloud, request } = stage(ALL);
    const { arguments: args } = exampleRequest("create_vm", "drafts/b");
    cloud.vms.clear();
    resultOf(await request("create_vm", args));
    const bootstrap = args[2] as { agent_id: string };
    expect(JSON.parse(cloud.vm.userData)).toEqual({
      ...bootstrap,
      vm: { name: cloud.vm.cid },
      networks: args[3],
      disks: { system: "/dev/sda", ephemeral: "/dev/sdb", persistent: {} },
      env: args[5],
    });
  });

  it("counts what the Director says, not what the CPI's agent section says", async () => {
    const agent = { mbus: "nats://configured", ntp: ["configured"], blobstore: { provider: "configured" } };
    const { cloud, request } = stage(ALL, { agent });
    const { arguments: args } = exampleRequest("create_vm", "drafts/b");
    cloud.vms.clear();
    const said = { agent_id: "agent-1", mbus: "nats://director", ntp: ["director"] };
    resultOf(await request("create_vm", args.with(2, said)));
    expect(JSON.parse(cloud.vm.userData)).toMatchObject({ ...said, blobstore: { provider: "configured" } });
  });

  it("hands the author the shipped arguments", async () => {
    const seen: unknown[] = [];
    const createVm = (args: unknown) => {
      seen.push(args);
      throw new Error("enough");
    };
    const { arguments: args } = exampleRequest("create_vm", "drafts/b");
    const cpi = cloudCpi(new MemoryCloud(), { capabilities: ALL, methods: { createVm: createVm as never } });
    errorOf(await embed(cpi).request(ask("create_vm", args)));
    const [stemcellCid, cloudProperties, bootstrap, networks, diskCids, env] = args;
    const { agent_id: agentId } = bootstrap as { agent_id: string };
    expect(seen).toEqual([{ agentId, stemcellCid, cloudProperties, networks, diskCids, env, bootstrap }]);
  });

  it.each([null, "settings", [], {}, { agent_id: "" }, { agent_id: 7 }])(
    "refuses %j as settings",
    async (settings) => {
      const { cloud, request } = stage(ALL);
      const args = exampleRequest("create_vm", "drafts/b").arguments.with(2, settings);
      expect(errorOf(await request("create_vm", args)).type).toBe(typeOf("CpiError"));
      expect(cloud.calls).toEqual([]);
    },
  );

  it("works beside a registry for an old stemcell: the entry has them", async () => {
    const registry = await liveRegistry();
    const { cloud, request } = stage(ALL, { registry: registry.section });
    cloud.vms.clear();
    const { arguments: args } = exampleRequest("create_vm", "drafts/b");
    resultOf(await request("create_vm", args, { stemcell: 1 }));
    expect(await registry.entry(cloud.vm.cid)).toMatchObject(
      JSON.parse(JSON.stringify({ mbus: (args[2] as { mbus: string }).mbus })),
    );
  });
});

describe("version 1 knows no draft", () => {
  it("whatever is announced: shipped arguments, results and counts", async () => {
    const registry = await liveRegistry();
    const { cloud, request } = stage(ALL, { registry: registry.section });
    const asked = { version: 1, stemcell: 1 };
    const vm = resultOf(await request("create_vm", vmArgs(), asked)) as string;
    expect(cloud.vms.has(vm)).toBe(true);
    expect(resultOf(await request("attach_disk", [vm, "disk-1"], asked))).toBeNull();
    expect(resultOf(await request("detach_disk", [vm, "disk-1"], asked))).toBeNull();
    expect(errorOf(await request("attach_disk", [vm, "disk-1", RECORDED], asked)).message).toContain(
      "takes 2",
    );
    expect(errorOf(await request("detach_disk", [vm, "disk-1", RECORDED], asked)).message).toContain(
      "takes 2",
    );
    const reordered = exampleRequest("create_vm", "drafts/b").arguments;
    expect(errorOf(await request("create_vm", reordered, asked)).message).toContain(
      "arguments[1] (stemcell_cid)",
    );
  });
});
