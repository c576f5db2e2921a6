import { API_VERSIONS, type ApiVersion } from "@slipway/protocol/cpi/api-version";
import { argsIn, camel, existsIn, type Method } from "@slipway/protocol/cpi/method";
import { CPI_METHOD_NAMES, CPI_METHODS, methodNamed } from "@slipway/protocol/cpi/methods";
import { matches } from "@slipway/protocol/schema/check";
import { type CloudMethods, cloudCpi, MemoryCloud, makeVm } from "@slipway/testkit/memory-cloud";
import { ask, errorOf, resultOf, typeOf } from "@slipway/testkit/requests";
import { quickClock } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { exampleRequest } from "./testing/examples.ts";

/** Every optional method of the contract. */
const OPTIONAL: Partial<CloudMethods> = {
  rebootVm: () => "",
  setVmMetadata: () => true,
  calculateVmCloudProperties: () => ({ cpus: 2 }),
  getDisks: () => [] as never,
  setDiskMetadata: () => undefined,
  resizeDisk: () => 42,
  updateDisk: () => null,
  snapshotDisk: () => "snapshot-1",
  deleteSnapshot: () => undefined,
  createNetwork: () => ({ cid: "net-1" }),
  deleteNetwork: () => undefined,
  configureNetworks: () => undefined,
  currentVmId: () => "vm-0",
  getVmLog: () => "",
  listResources: () => ({ vms: [], disks: [] }),
};

/** Methods the author writes, with each version that has them. */
const WRITTEN = CPI_METHOD_NAMES.filter((name) => name !== "info" && name !== "ping").flatMap((name) =>
  API_VERSIONS.filter((version) => existsIn(CPI_METHODS[name], version)).map(
    (version) => [name, version] as const,
  ),
);

const definition = (name: string): Method => {
  const found = methodNamed(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};

async function send(name: string, version: ApiVersion, args: readonly unknown[]) {
  const cloud = new MemoryCloud();
  cloud.vms.set("vm-7", { userData: "", disks: new Set(["disk-9"]) });
  cloud.disks.add("disk-9");
  const reply = await embed(cloudCpi(cloud, { methods: OPTIONAL })).request(ask(name, args, { version }));
  return { cloud, reply };
}

describe("the arguments of", () => {
  it.each(WRITTEN)(
    "%s under version %i reach the author as in the contract's example",
    async (name, version) => {
      const { arguments: args } = exampleRequest(name, version);
      const got: unknown[] = [];
      const key = camel(name);
      const methods = { ...OPTIONAL, [key]: (named: unknown) => void got.push(named) };
      // Below version 2 a registry must be configured before an author is called. No registry listens: it is asked
      // later.
      const config = { registry: { endpoint: "http://127.0.0.1:1" } };
      const client = embed(cloudCpi(new MemoryCloud(), { methods }), {
        config,
        clock: quickClock,
      });
      await client.request(ask(name, args, { version }));
      const names = argsIn(definition(name), version).map((argument) => camel(argument.name));
      expect(got).toEqual([
        { ...Object.fromEntries(names.map((one, at) => [one, args[at]])), bootstrap: undefined },
      ]);
    },
  );

  it.each(WRITTEN)("%s under version %i are counted: one less or more is refused", async (name, version) => {
    const { arguments: args } = exampleRequest(name, version);
    const wrong = [
      [...args, null],
      [...args, {}, {}, {}],
      ...(args.length > 0 ? [args.slice(0, -1), []] : []),
    ];
    for (const given of wrong) {
      const { cloud, reply } = await send(name, version, given);
      const error = errorOf(reply);
      expect(error).toMatchObject({ type: typeOf("CpiError"), ok_to_retry: false });
      expect(error.message).toContain(`${name} takes ${args.length}`);
      expect(error.message).toContain(`got ${given.length}`);
      expect(cloud.calls).toEqual([]);
    }
  });

  it.each(WRITTEN)("%s under version %i are checked: no other type is taken", async (name, version) => {
    const { arguments: args } = exampleRequest(name, version);
    const candidates = [null, "", " ", "text", 0, -1, 1.5, true, [], [null], [7], {}, { networks: 7 }];
    for (const [at, argument] of argsIn(definition(name), version).entries()) {
      const unfit = candidates.filter((value) => !matches(argument.schema, value));
      expect(unfit.length).toBeGreaterThan(0);
      for (const value of unfit) {
        const { cloud, reply } = await send(name, version, args.with(at, value));
        const error = errorOf(reply);
        expect(error).toMatchObject({ type: typeOf("CpiError"), ok_to_retry: false });
        expect(error.message).toContain(`arguments[${at}] (${argument.name})`);
        expect(cloud.calls).toEqual([]);
      }
    }
  });

  it("info and ping take no arguments", async () => {
    for (const name of ["info", "ping"]) {
      const error = errorOf((await send(name, 2, [1])).reply);
      expect(error.type).toBe(typeOf("CpiError"));
      expect(error.message).toContain(`${name} takes 0 (none)`);
    }
  });
});

describe("methods", () => {
  it.each(["reboot", "create-vm", "CreateVm", "createVm", "constructor", "__proto__", "toString", "methods"])(
    "that do not exist, like '%s', are refused without harm",
    async (name) => {
      const error = errorOf((await send(name, 2, [])).reply);
      const message = `Method is not known, got: '${name}'`;
      expect(error).toEqual({ type: typeOf("NotImplemented"), message, ok_to_retry: false });
    },
  );

  it("refuses a name of a mebibyte in a message of bounded length", async () => {
    const error = errorOf((await send("m".repeat(2 ** 20), 2, [])).reply);
    expect(error.type).toBe(typeOf("NotImplemented"));
    expect(error.message.length).toBeLessThan(20_000);
  });

  it.each(Object.keys(OPTIONAL).filter((key) => key !== "configureNetworks"))(
    "answers NotImplemented for %s if the author left it out",
    async (key) => {
      const name = CPI_METHOD_NAMES.find((one) => camel(one) === key) ?? "?";
      const client = embed(cloudCpi(new MemoryCloud()));
      const error = errorOf(await client.request(ask(name, exampleRequest(name, 2).arguments)));
      expect(error).toMatchObject({ type: typeOf("NotImplemented"), ok_to_retry: false });
      expect(error.message).toContain(`'${name}'`);
    },
  );

  it("configure_networks is NotSupported: left out in version 1, and always from version 2", async () => {
    const { arguments: args } = exampleRequest("configure_networks", 1);
    const bare = embed(cloudCpi(new MemoryCloud()));
    for (const version of [undefined, 1, 2, 3]) {
      const error = errorOf(await bare.request(ask("configure_networks", args, { version })));
      expect(error.type).toBe(typeOf("NotSupported"));
    }
    const full = embed(cloudCpi(new MemoryCloud(), { methods: OPTIONAL }));
    expect(resultOf(await full.request(ask("configure_networks", args, { version: 1 })))).toBeNull();
    expect(errorOf(await full.request(ask("configure_networks", args, { version: 2 }))).type).toBe(
      typeOf("NotSupported"),
    );
  });

  it("ping is answered by the SDK, in every version and with a configuration that does not fit", async () => {
    const client = embed(cloudCpi(new MemoryCloud()), { config: { cloud: { region: 7 } } });
    for (const version of [undefined, 1, 2, 3]) {
      expect(resultOf(await client.request(ask("ping", [], { version })))).toBe("pong");
    }
  });

  it("may use `this`, and each other through it", async () => {
    class Author {
      readonly known = "vm-7";
      hasVm({ vmCid }: { vmCid: string }): boolean {
        return vmCid === this.known;
      }
      rebootVm(args: { vmCid: string }): void {
        if (!this.hasVm(args)) throw new Error("not that one");
      }
    }
    const cpi = { ...cloudCpi(new MemoryCloud()), methods: new Author() as never };
    const client = embed(cpi);
    expect(resultOf(await client.request(ask("has_vm", ["vm-7"])))).toBe(true);
    expect(resultOf(await client.request(ask("reboot_vm", ["vm-7"])))).toBeNull();
  });
});

describe("a result that breaks the contract is the CPI's error and goes no further", () => {
  const cases: [string, unknown[]][] = [
    ["create_stemcell", [42, "", " ", undefined, null, ["stemcell-1"], { cid: "stemcell-1" }]],
    ["create_disk", [42, "", undefined, null, ["disk-1"], true]],
    ["snapshot_disk", [42, "", undefined, null, []]],
    ["current_vm_id", [42, "", undefined, null, []]],
    ["has_vm", ["true", 1, 0, null, undefined, {}]],
    ["has_disk", ["false", 1, null, undefined]],
    ["get_disks", [null, undefined, "disk-1", {}, [1], [""], [null]]],
    ["calculate_vm_cloud_properties", [null, undefined, "m1", 7, []]],
    ["update_disk", [42, "", [], {}, true]],
    ["attach_disk", [null, undefined, "", " ", {}, [], 7, true, { lun: 0 }, { path: "" }, { id: null }]],
    ["create_vm", [undefined, null, "vm-1", 42, [], {}, { cid: 42 }, { cid: "" }, ["vm-1", {}]]],
    ["create_network", [undefined, null, "net-1", ["net-1", {}, {}], {}, { cid: 42 }, { cid: "" }]],
    [
      "create_network",
      [
        { cid: "n", range: 7 },
        { cid: "n", reserved: "10.0.0.1" },
        { cid: "n", cloudProperties: [] },
      ],
    ],
  ];

  it.each(cases)("from %s: %j", async (name, values) => {
    for (const value of values) {
      const methods = { ...OPTIONAL, [camel(name)]: () => value };
      const client = embed(cloudCpi(new MemoryCloud(), { methods }));
      const error = errorOf(await client.request(ask(name, exampleRequest(name, 2).arguments)));
      expect(error).toMatchObject({ type: typeOf("CpiError"), ok_to_retry: false });
      expect(error.message).toContain("the CPI broke its contract");
      expect(error.message).toContain(name);
    }
  });

  it("removes the VM if the author returns invalid networks", async () => {
    const cloud = new MemoryCloud();
    const createVm: CloudMethods["createVm"] = (args, call) => ({
      ...makeVm(cloud, args, call),
      networks: { private: 7 } as never,
    });
    const client = embed(cloudCpi(cloud, { methods: { createVm } }));
    const error = errorOf(await client.request(ask("create_vm", exampleRequest("create_vm", 2).arguments)));
    expect(error.message).toContain("create_vm result: networks");
    expect(cloud.calls).toEqual(["createVm", "deleteVm"]);
    expect(cloud.vms.size).toBe(0);
  });
});

describe("the result of a method", () => {
  it.each(["delete_vm", "delete_disk", "set_vm_metadata", "reboot_vm", "resize_disk", "detach_disk"])(
    "is null where callers ignore it, whatever %s returned",
    async (name) => {
      for (const value of [undefined, null, true, "", 42, { a: 1 }, 10n, () => 1]) {
        const methods = { ...OPTIONAL, [camel(name)]: () => value };
        const client = embed(cloudCpi(new MemoryCloud(), { methods }));
        expect(resultOf(await client.request(ask(name, exampleRequest(name, 2).arguments)))).toBeNull();
      }
    },
  );

  it("passes on what the author returned", async () => {
    const network = {
      cid: "n-1",
      range: "10.9.0.0/24",
      reserved: ["10.9.0.2"],
      cloudProperties: { net: "n" },
    };
    const methods = { ...OPTIONAL, updateDisk: () => "disk-10" as never, createNetwork: () => network };
    const client = embed(cloudCpi(new MemoryCloud(), { methods }));
    const result = async (name: string) =>
      resultOf(await client.request(ask(name, exampleRequest(name, 2).arguments)));
    expect(await result("update_disk")).toBe("disk-10");
    expect(await result("calculate_vm_cloud_properties")).toEqual({ cpus: 2 });
    expect(await result("get_disks")).toEqual([]);
    expect(await result("create_network")).toEqual([
      "n-1",
      { range: "10.9.0.0/24", reserved: ["10.9.0.2"] },
      { net: "n" },
    ]);
  });
});
