import type { JsonObject } from "@slipway/protocol/schema/json";
import { checkAgentSettings } from "@slipway/protocol/settings/agent-settings";
import type { Networks } from "@slipway/protocol/settings/networks";
import { cloudCpi, MemoryCloud, makeVm } from "@slipway/testkit/memory-cloud";
import { liveRegistry } from "@slipway/testkit/registry";
import {
  AGENT,
  ask,
  type CpiRequestParts,
  errorOf,
  NETWORKS,
  resultOf,
  vmArgs,
} from "@slipway/testkit/requests";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { attachPersistentDisk, detachPersistentDisk, newSettings } from "./stored-settings.ts";

const DISKS = { system: "/dev/sda", ephemeral: "/dev/sdb" };

/** A cloud whose VMs read their settings from a CD-ROM, each with its content by cid. */
function cdromCloud(config: JsonObject = {}) {
  const cloud = new MemoryCloud();
  const cdroms = new Map<string, string>();
  const cpi = cloudCpi(cloud, {
    methods: {
      createVm: (args, call) => {
        const made = makeVm(cloud, args, call);
        cdroms.set(made.cid, cloud.vmOf(made.cid).userData);
        return made;
      },
    },
    settings: {
      read: (cid) => cdroms.get(cid),
      write: async (cid, text) => void cdroms.set(cid, text),
    },
  });
  const client = embed(cpi, { config });
  const request = (method: string, args: readonly unknown[], asked: CpiRequestParts) =>
    client.request(ask(method, args, asked));
  return {
    cloud,
    cdroms,
    settings: () => JSON.parse(cdroms.get(cloud.vm.cid) ?? "null") as { disks: { persistent: object } },
    request,
    call: async (method: string, args: readonly unknown[], asked: CpiRequestParts) =>
      resultOf(await request(method, args, asked)),
  };
}

const MIXES = [
  { version: 1, stemcell: 1, changed: true },
  { version: 1, stemcell: 2, changed: true },
  { version: 2, stemcell: 1, changed: true },
  { version: 2, stemcell: undefined, changed: true },
  { version: 2, stemcell: 2, changed: false },
];

describe("a CPI that keeps the settings itself", () => {
  it.each(MIXES)(
    "gives the agent complete settings and its disks without a registry (API $version, stemcell $stemcell)",
    async ({ changed, ...asked }) => {
      const { cloud, call, settings } = cdromCloud();
      const result = await call("create_vm", vmArgs(), asked);
      const vm = cloud.vm.cid;
      expect(result).toEqual(asked.version === 1 ? vm : [vm, NETWORKS]);
      const initial = settings();
      expect(initial).toMatchObject({ agent_id: AGENT, disks: { ...DISKS, persistent: {} } });
      expect(checkAgentSettings(initial)).toMatchObject({ ok: true });

      const disks: string[] = [];
      for (const _ of [1, 2]) disks.push((await call("create_disk", [64, {}, vm], asked)) as string);
      const [first = "", second = ""] = disks;
      const hint = (disk: string) => ({ path: `/dev/${disk}` });
      for (const disk of disks)
        expect(await call("attach_disk", [vm, disk], asked)).toEqual(asked.version === 1 ? null : hint(disk));
      const attached = { [first]: hint(first), [second]: hint(second) };
      expect(settings().disks.persistent).toEqual(changed ? attached : {});

      await call("detach_disk", [vm, first], asked);
      expect(settings().disks.persistent).toEqual(changed ? { [second]: hint(second) } : {});
      await call("detach_disk", [vm, second], asked);
      expect(settings()).toEqual(initial);
      expect(await call("delete_vm", [vm], asked)).toBeNull();
    },
  );

  it("asks no registry, also if one is configured", async () => {
    const registry = await liveRegistry();
    const { cloud, call } = cdromCloud({ registry: registry.section });
    const asked = { version: 1, stemcell: 1 };
    await call("create_vm", vmArgs(), asked);
    const disk = await call("create_disk", [64, {}, null], asked);
    await call("attach_disk", [cloud.vm.cid, disk], asked);
    await call("delete_vm", [cloud.vm.cid], asked);
    expect(registry.seen).toEqual([]);
  });

  it("tells if the settings are gone or broken, and leaves them as they are", async () => {
    const { cloud, cdroms, call, request } = cdromCloud();
    const asked = { version: 1, stemcell: 1 };
    await call("create_vm", vmArgs(), asked);
    const { cid } = cloud.vm;
    const disk = await call("create_disk", [64, {}, null], asked);
    const told = async () => errorOf(await request("attach_disk", [cid, disk], asked)).message;
    cdroms.set(cid, '{"agent_id":""}');
    expect(await told()).toContain("SDK-161");
    expect(cdroms.get(cid)).toBe('{"agent_id":""}');
    cdroms.delete(cid);
    expect(await told()).toContain("SDK-160");
  });
});

describe("the text of settings", () => {
  const initial = newSettings({
    agentId: AGENT,
    networks: NETWORKS as unknown as Networks,
    disks: DISKS,
    name: "vm-1",
    env: { bosh: { tags: {} } },
    agent: { ntp: ["time.example.org"], mbus: null },
  });

  it("has all an agent needs, and no persistent disk", () => {
    expect(JSON.parse(initial)).toEqual({
      agent_id: AGENT,
      vm: { name: "vm-1" },
      networks: NETWORKS,
      disks: { ...DISKS, persistent: {} },
      env: { bosh: { tags: {} } },
      ntp: ["time.example.org"],
    });
    expect(checkAgentSettings(JSON.parse(initial))).toMatchObject({ ok: true });
  });

  it("gains a disk on attach, once, and loses it on detach", () => {
    const one = attachPersistentDisk(initial, "disk-1", "/dev/sdf");
    const two = attachPersistentDisk(one, "disk-2", { id: "6000c29a" });
    const persistent = { "disk-1": "/dev/sdf", "disk-2": { id: "6000c29a" } };
    expect(JSON.parse(two).disks).toEqual({ ...DISKS, persistent });
    expect(attachPersistentDisk(two, "disk-1", "/dev/sdf")).toEqual(
      attachPersistentDisk(attachPersistentDisk(two, "disk-1", "/dev/sdf"), "disk-1", "/dev/sdf"),
    );
    expect(JSON.parse(detachPersistentDisk(two, "disk-2"))).toEqual(JSON.parse(one));
    expect(JSON.parse(detachPersistentDisk(initial, "disk-9"))).toEqual(JSON.parse(initial));
  });

  it("keeps unknown keys", () => {
    const text = '{"agent_id":"a","future":{"x":[1]},"disks":{"raw_ephemeral":[{"path":"/dev/xvdba"}]}}';
    expect(detachPersistentDisk(attachPersistentDisk(text, "d", "/dev/sdf"), "d")).toBe(
      text.replace("}]}}", '}],"persistent":{}}}'),
    );
  });

  it.each(["", "{}", "[]", '{"agent_id":"a","disks":{"persistent":[]}}'])("is refused as %j", (text) => {
    expect(() => attachPersistentDisk(text, "disk-1", "/dev/sdf")).toThrow();
  });

  it("takes no hint that an agent cannot read", () => {
    expect(() => attachPersistentDisk(initial, "disk-1", { lun: 0 } as never)).toThrow("disk-1");
  });
});
