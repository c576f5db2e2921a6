import { checkAgentSettings } from "@slipway/protocol/settings/agent-settings";
import { PLANTED_ENV } from "@slipway/testkit/canaries";
import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { liveRegistry } from "@slipway/testkit/registry";
import { AGENT, ask, type CpiRequestParts, NETWORKS, resultOf, vmArgs } from "@slipway/testkit/requests";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";

const ROWS = [1, 2].flatMap((director) =>
  [1, 2].flatMap((cpi) =>
    [1, 2].map((stemcell) => {
      const version = Math.min(director, cpi);
      return { director, cpi, stemcell, version, registryless: version === 2 && stemcell === 2 };
    }),
  ),
);
const MIXES = ROWS.map((row) => [`${row.director}/${row.cpi}/${row.stemcell}`, row] as const);
const WITH_REGISTRY = MIXES.filter(([, row]) => !row.registryless);

/** Odd keys, an empty object, text that JSON escapes: all of it must arrive as it came. */
const ENV = JSON.parse(
  JSON.stringify(PLANTED_ENV).replace(
    '{"bosh"',
    '{"constructor":{"prototype":1},"z":[],"a":{},"text":"\\u00e9\\n\\"/","nothing":null,"n":1.5,"bosh"',
  ),
) as object;
const AGENT_SECTION = {
  mbus: "nats://nats:CANARY-agent-mbus@10.0.4.2:4222",
  ntp: ["time.example.org"],
  blobstore: { provider: "dav", options: { endpoint: "https://10.0.4.2:25250" } },
};
const SYSTEM = { system: "/dev/sda", ephemeral: "/dev/sdb" };

async function stage(asked: CpiRequestParts) {
  const registry = await liveRegistry();
  const cloud = new MemoryCloud();
  const config = { registry: registry.section, agent: AGENT_SECTION };
  const client = embed(cloudCpi(cloud), { config });
  const call = async (method: string, ...args: unknown[]) =>
    resultOf(await client.request(ask(method, args, asked)));
  return { registry, cloud, call };
}

const settingsOf = (cid: string, persistent: object = {}) => ({
  ...AGENT_SECTION,
  agent_id: AGENT,
  vm: { name: cid },
  networks: NETWORKS,
  disks: { ...SYSTEM, persistent },
  env: ENV,
});

/** User-data that lets an agent reach the registry, with nothing of the settings. */
const wayToRegistry = (endpoint: string) => {
  const { cloud_properties: _, ...network } = NETWORKS.private;
  return { registry: { endpoint }, dns: { nameserver: ["10.0.0.2"] }, networks: { private: network } };
};

describe("create_vm of Director/CPI/stemcell", () => {
  it.each(MIXES)(
    "%s returns the shape of its version, and the settings travel one way only",
    async (_, row) => {
      const { registry, cloud, call } = await stage(row);
      const result = await call("create_vm", ...vmArgs({}, ENV));
      const { cid, userData } = cloud.vm;
      expect(result).toEqual(row.version === 1 ? cid : [cid, NETWORKS]);

      if (row.registryless) {
        expect(registry.seen).toEqual([]);
        expect(JSON.parse(userData)).toEqual(settingsOf(cid));
        expect(userData).toContain(`"env":${JSON.stringify(ENV)}`);
      } else {
        expect(registry.seen).toEqual([`PUT ${cid}`]);
        const entry = await registry.entry(cid);
        expect(entry).toEqual(settingsOf(cid));
        expect(JSON.stringify(entry)).toContain(`"env":${JSON.stringify(ENV)}`);
        const { user, password, endpoint } = registry.section;
        const withPassword = endpoint.replace("://", `://${user}:${encodeURIComponent(password)}@`);
        expect(JSON.parse(userData)).toEqual(wayToRegistry(withPassword));
      }
      const document = row.registryless ? JSON.parse(userData) : await registry.entry(cid);
      expect(checkAgentSettings(document)).toMatchObject({ ok: true });
    },
  );

  it.each([
    ["no vm in the context", { vm: undefined }],
    ["a null vm", { vm: null }],
    ["a vm without a stemcell", { vm: {} }],
    ["a stemcell without a version, as the CLI writes it", { vm: { stemcell: {} } }],
    ["a stemcell with a null version", { vm: { stemcell: { api_version: null } } }],
  ])("2/2/unknown takes the way of an old stemcell: %s", async (_, context) => {
    const { registry, cloud, call } = await stage({ version: 2, stemcell: undefined, context });
    expect(await call("create_vm", ...vmArgs())).toEqual([cloud.vm.cid, NETWORKS]);
    expect(registry.seen).toEqual([`PUT ${cloud.vm.cid}`]);
    expect(JSON.parse(cloud.vm.userData)).toHaveProperty("registry.endpoint");
  });

  it("3/3/3 and 3/3/2 are registry-less like 2/2/2", async () => {
    for (const stemcell of [2, 3, 4]) {
      const { registry, cloud, call } = await stage({ version: 3, stemcell });
      expect(await call("create_vm", ...vmArgs())).toEqual([cloud.vm.cid, NETWORKS]);
      expect(registry.seen).toEqual([]);
    }
  });

  it("create_vm with null for env and disks gives the agent an empty env", async () => {
    const { cloud, call } = await stage({});
    await call("create_vm", ...vmArgs().with(4, null).with(5, null));
    expect(JSON.parse(cloud.vm.userData)).toMatchObject({ env: {} });
  });
});

describe("a disk of Director/CPI/stemcell", () => {
  it.each(MIXES)("%s is reported to the Director, the registry, or both, with one hint", async (_, row) => {
    const { registry, cloud, call } = await stage(row);
    await call("create_vm", ...vmArgs({}, ENV));
    const vm = cloud.vm.cid;
    const first = (await call("create_disk", 64, {}, vm)) as string;
    const second = (await call("create_disk", 64, {}, vm)) as string;
    const hint = (disk: string) => ({ path: `/dev/${disk}` });
    registry.forget();

    const attached = [await call("attach_disk", vm, first), await call("attach_disk", vm, second)];
    expect(attached).toEqual(row.version === 1 ? [null, null] : [hint(first), hint(second)]);
    if (row.registryless) expect(registry.seen).toEqual([]);
    else {
      expect(registry.seen.filter((one) => one === `PUT ${vm}`)).toHaveLength(2);
      const both = { [first]: hint(first), [second]: hint(second) };
      expect(await registry.entry(vm)).toEqual(settingsOf(vm, both));
    }

    // Again: the same, not twice.
    expect(await call("attach_disk", vm, first)).toEqual(attached[0]);
    if (!row.registryless) {
      expect(Object.keys((await registry.entry(vm))?.disks.persistent ?? {})).toEqual([first, second]);
    }

    expect(await call("detach_disk", vm, first)).toBeNull();
    if (!row.registryless)
      expect(await registry.entry(vm)).toEqual(settingsOf(vm, { [second]: hint(second) }));

    registry.forget();
    expect(await call("delete_vm", vm)).toBeNull();
    expect(registry.seen).toEqual(row.registryless ? [] : [`DELETE ${vm}`]);
    expect(await registry.entry(vm)).toBeUndefined();
  });

  it.each(WITH_REGISTRY)("%s keeps what else the entry holds", async (_, row) => {
    const { registry, cloud, call } = await stage(row);
    cloud.vms.set("vm-old", { userData: "", disks: new Set() });
    cloud.disks.add("disk-1");
    const before = {
      agent_id: "a",
      vm: { name: "x", id: "y" },
      future: { keys: [1] },
      disks: {
        system: "/dev/sda",
        raw_ephemeral: [{ path: "/dev/xvdba" }],
        persistent: { other: "/dev/sdf" },
      },
    };
    await registry.put("vm-old", JSON.stringify(before));
    await call("attach_disk", "vm-old", "disk-1");
    expect(await registry.entry("vm-old")).toEqual({
      ...before,
      disks: { ...before.disks, persistent: { other: "/dev/sdf", "disk-1": { path: "/dev/disk-1" } } },
    });
    await call("detach_disk", "vm-old", "disk-1");
    expect(await registry.entry("vm-old")).toEqual(before);
  });

  it("keeps a hint as its author wrote it, in the reply and in the registry", async () => {
    const registry = await liveRegistry();
    for (const hint of [
      "/dev/sdf",
      "3",
      { id: "6000c29a-1" },
      { lun: "1", host_device_id: "{f8b3781b-1}", path: "/dev/sdd" },
      { volume_id: "3", vendor: { future: ["x"] } },
      { iscsi_settings: { initiator_name: "i", username: "u", target: "t", password: "p", more: "m" } },
    ]) {
      const cloud = new MemoryCloud();
      const client = embed(cloudCpi(cloud, { methods: { attachDisk: () => hint } }), {
        config: { registry: registry.section },
      });
      await registry.put("vm-1", JSON.stringify({ agent_id: "a" }));
      const reply = await client.request(ask("attach_disk", ["vm-1", "disk-1"], { stemcell: 1 }));
      expect(resultOf(reply)).toEqual(hint);
      expect((await registry.entry("vm-1"))?.disks.persistent).toEqual({ "disk-1": hint });
    }
  });
});
