import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectNoSecrets, PLANTED_CONTEXT, PLANTED_ENV } from "@slipway/testkit/canaries";
import {
  type CloudMethods,
  cloudCpi,
  MemoryCloud,
  type MemoryCloudOptions,
  makeVm,
} from "@slipway/testkit/memory-cloud";
import { liveRegistry } from "@slipway/testkit/registry";
import { ask, errorOf, NETWORKS, resultOf, vmArgs, wellFormed } from "@slipway/testkit/requests";
import { latch, tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { exampleRequest } from "./testing/examples.ts";

const DISK = [64, {}, "vm-1"] as const;

async function stage(options: MemoryCloudOptions = {}, config: object = {}) {
  const cloud = new MemoryCloud();
  const dir = await tempDir();
  const client = embed(cloudCpi(cloud, options), { config: { ...config, cloud: { state_dir: dir } } });
  const records = join(dir, "requests");
  return { cloud, client, dir, records };
}

/** Notes the token and whether it is a repeat, then runs the given method. */
function noting(create: CloudMethods["createVm"]) {
  const seen: { token: string; repeated: boolean }[] = [];
  const createVm: CloudMethods["createVm"] = (args, call) => {
    seen.push({ token: call.token, repeated: call.repeated });
    return create(args, call);
  };
  return { seen, createVm };
}

describe("a create request repeated under its id", () => {
  const methods = {
    snapshotDisk: () => "snapshot-1",
    createNetwork: () => ({ cid: "net-1", range: "10.9.0.0/24" }),
  };

  it.each([
    ["create_stemcell", "createStemcell"],
    ["create_disk", "createDisk"],
    ["create_vm", "createVm"],
    ["snapshot_disk", "snapshotDisk"],
    ["create_network", "createNetwork"],
  ])("%s gets the first result, and the author is called once", async (name, key) => {
    const { cloud, client } = await stage({ methods });
    const request = ask(name, exampleRequest(name, 2).arguments, { requestId: "cpi-1" });
    const first = resultOf(await client.request(request));
    expect(resultOf(await client.request(request))).toEqual(first);
    expect(resultOf(await client.request(request))).toEqual(first);
    expect(cloud.calls.filter((one) => one === key)).toHaveLength(1);
  });

  it("finds it in another process's memory too: nothing is kept but files", async () => {
    const { cloud, client, dir } = await stage();
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    expect(resultOf(await client.request(request))).toEqual(["vm-1", NETWORKS]);
    const other = embed(cloudCpi(cloud), { config: { cloud: { state_dir: dir } } });
    expect(resultOf(await other.request(request))).toEqual(["vm-1", NETWORKS]);
    expect(cloud.calls).toEqual(["createVm", "hasVm"]);
  });

  it.each<[string, object]>([
    ["other arguments", ask("create_disk", [65, {}, "vm-1"], { requestId: "cpi-1" })],
    ["another id", ask("create_disk", DISK, { requestId: "cpi-2" })],
    ["another director", ask("create_disk", DISK, { requestId: "cpi-1", context: { director_uuid: "d-2" } })],
  ])("with %s is another request", async (_, other) => {
    const { client } = await stage();
    const request = ask("create_disk", DISK, { requestId: "cpi-1" });
    expect(resultOf(await client.request(request))).toBe("disk-1");
    expect(resultOf(await client.request(other))).toBe("disk-2");
    expect(resultOf(await client.request(request))).toBe("disk-1");
  });

  it("creates again when the first result is gone", async () => {
    const { cloud, client } = await stage();
    const disk = ask("create_disk", DISK, { requestId: "cpi-1" });
    const vm = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    expect(resultOf(await client.request(disk))).toBe("disk-1");
    expect(resultOf(await client.request(vm))).toEqual(["vm-2", NETWORKS]);
    cloud.disks.clear();
    cloud.vms.clear();
    expect(resultOf(await client.request(disk))).toBe("disk-3");
    expect(resultOf(await client.request(vm))).toEqual(["vm-4", NETWORKS]);
    expect(resultOf(await client.request(disk))).toBe("disk-3");
  });

  it("without an id, or without a place for it, is not remembered", async () => {
    const { client, records } = await stage();
    for (const expected of ["disk-1", "disk-2"]) {
      expect(resultOf(await client.request(ask("create_disk", DISK)))).toBe(expected);
    }
    await expect(readdir(records)).rejects.toThrow("ENOENT");
    const placeless = embed(cloudCpi(new MemoryCloud()));
    for (const expected of ["disk-1", "disk-2"]) {
      expect(resultOf(await placeless.request(ask("create_disk", DISK, { requestId: "cpi-1" })))).toBe(
        expected,
      );
    }
  });

  it("at the same time runs once; the others wait for its result", async () => {
    const { cloud, client } = await stage();
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    const replies = await Promise.all(Array.from({ length: 5 }, () => client.request(request)));
    for (const reply of replies) expect(resultOf(reply)).toEqual(["vm-1", NETWORKS]);
    expect(cloud.calls.filter((one) => one === "createVm")).toHaveLength(1);
  });

  it("does not hold up other requests", async () => {
    const gate = latch();
    const { cloud, client } = await stage({
      methods: { createStemcell: () => gate.opened.then(() => "stemcell-1") },
    });
    const slow = client.request(ask("create_stemcell", ["/image", {}], { requestId: "cpi-1" }));
    expect(resultOf(await client.request(ask("create_disk", DISK, { requestId: "cpi-2" })))).toBe("disk-1");
    gate.open();
    expect(resultOf(await slow)).toBe("stemcell-1");
    expect(cloud.calls).toContain("createDisk");
  });
});

describe("the token of a request", () => {
  it("is the same for its repeats and for nothing else", async () => {
    const { seen, createVm } = noting(() => {
      throw new Error("not yet");
    });
    const { client } = await stage({ methods: { createVm } });
    const asked = [{ requestId: "cpi-1" }, { requestId: "cpi-1" }, { requestId: "cpi-2" }, {}, {}];
    for (const one of asked) errorOf(await client.request(ask("create_vm", vmArgs(), one)));
    const [first, again, ...others] = seen.map(({ token }) => token);
    expect(again).toBe(first);
    expect(new Set([first, ...others]).size).toBe(4);
    for (const { token } of seen) expect(token).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe("a create that failed", () => {
  it("forgets a create that left nothing: the next is a first one", async () => {
    let fails = true;
    const cloud = new MemoryCloud();
    const { seen, createVm } = noting((args, call) => {
      if (fails) throw new Error("quota");
      return makeVm(cloud, args, call);
    });
    const { client, records } = await stage({ methods: { createVm } });
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    errorOf(await client.request(request));
    expect(await readdir(records)).toEqual([]);
    fails = false;
    resultOf(await client.request(request));
    expect(seen.map(({ repeated }) => repeated)).toEqual([false, false]);
  });

  it("remembers a create that may have left something: the next is marked as repeated, to look for the token", async () => {
    let fails = true;
    const { seen, createVm } = noting((_, call) => {
      call.cleanup(() => {
        throw new Error("cannot undo");
      });
      if (fails) throw new Error("quota");
      call.userData({ networks: {} });
      return { cid: `vm-${call.token}` };
    });
    const { client } = await stage({ methods: { createVm } });
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    const { message } = errorOf(await client.request(request));
    expect(message).toContain(`(token ${seen[0]?.token})`);
    fails = false;
    expect(resultOf(await client.request(request))).toEqual([`vm-${seen[0]?.token}`, {}]);
    expect(seen.map(({ repeated }) => repeated)).toEqual([false, true]);
  });

  it("marks a create request as repeated until a repeat succeeds", async () => {
    let cloudIsAway = false;
    const { seen, createVm } = noting((_, call) => {
      if (cloudIsAway) throw new Error("the cloud does not answer");
      if (call.repeated) return { cid: "vm-found" };
      call.cleanup(() => {
        throw new Error("cannot undo");
      });
      throw new Error("lost");
    });
    const { client } = await stage({ methods: { createVm } });
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1", stemcell: 2 });
    errorOf(await client.request(request));
    cloudIsAway = true;
    errorOf(await client.request(request));
    cloudIsAway = false;
    expect(resultOf(await client.request(request))).toEqual(["vm-found", NETWORKS]);
    expect(seen.map(({ repeated }) => repeated)).toEqual([false, true, true]);
  });

  it.each([
    ["create_disk", "createDisk", 42],
    ["create_stemcell", "createStemcell", ""],
    ["create_network", "createNetwork", { cid: "n", range: 7 }],
  ])("does not remember a result that breaks the contract: %s", async (name, key, value) => {
    let result: unknown = value;
    const { client } = await stage({ methods: { [key]: () => result, deleteNetwork: () => undefined } });
    const request = ask(name, exampleRequest(name, 2).arguments, { requestId: "cpi-1" });
    errorOf(await client.request(request));
    result = name === "create_network" ? { cid: "good" } : "good";
    expect(JSON.stringify(resultOf(await client.request(request)))).toContain("good");
  });
});

describe("a repeat that finds the VM of the first run by its token", () => {
  const found: CloudMethods["createVm"] = (_, call) => {
    if (call.repeated) return { cid: "vm-found" };
    call.cleanup(() => {
      throw new Error("cannot undo");
    });
    throw new Error("lost");
  };
  const request = (stemcell: number) => ask("create_vm", vmArgs(), { requestId: "cpi-1", stemcell });

  it("may return it as it is: it has its user-data", async () => {
    const { client } = await stage({ methods: { createVm: found } });
    errorOf(await client.request(request(2)));
    expect(resultOf(await client.request(request(2)))).toEqual(["vm-found", NETWORKS]);
  });

  it("must say its settings again when the registry needs them", async () => {
    const registry = await liveRegistry();
    const { cloud, client } = await stage({ methods: { createVm: found } }, { registry: registry.section });
    errorOf(await client.request(request(1)));
    expect(errorOf(await client.request(request(1))).message).toContain("SDK-004");
    expect(cloud.calls).toEqual(["createVm", "createVm", "deleteVm"]);
  });
});

describe("the files", () => {
  it("hold no secret of the request, and only their owner may read them", async () => {
    const { client, records } = await stage();
    resultOf(
      await client.request(
        ask("create_vm", vmArgs({}, PLANTED_ENV), { requestId: "cpi-1", context: PLANTED_CONTEXT }),
      ),
    );
    const names = await readdir(records);
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.json$/)]);
    const file = join(records, names[0] ?? "");
    expectNoSecrets(await readFile(file, "utf8"));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(records)).mode & 0o777).toBe(0o700);
  });

  it("a damaged file means that the request may have begun", async () => {
    const cloud = new MemoryCloud();
    const { seen, createVm } = noting((args, call) => makeVm(cloud, args, call));
    const { client, records } = await stage({ methods: { createVm } });
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    resultOf(await client.request(request));
    const [name = ""] = await readdir(records);
    for (const text of ["", "{", "\u0000"]) {
      await writeFile(join(records, name), text);
      resultOf(await client.request(request));
    }
    expect(seen.map(({ repeated }) => repeated)).toEqual([false, true, true, true]);
  });

  it("a file that cannot be made stops a create before the cloud is asked", async () => {
    const { cloud, client, dir } = await stage();
    await writeFile(join(dir, "requests"), "in the way");
    errorOf(await client.request(ask("create_vm", vmArgs(), { requestId: "cpi-1" })));
    expect(cloud.calls).toEqual([]);
  });

  it("a file that cannot be written afterwards loses the record, not the VM", async () => {
    const { cloud, client, records } = await stage({
      methods: {
        createVm: async (args, call) => {
          const file = join(records, `${call.token}.json`);
          await rm(file);
          await mkdir(join(file, "in the way"), { recursive: true });
          return makeVm(cloud, args, call);
        },
      },
    });
    const reply = wellFormed(await client.request(ask("create_vm", vmArgs(), { requestId: "cpi-1" })));
    expect(resultOf(reply)).toEqual(["vm-1", NETWORKS]);
    expect(reply.log).toContain("not remembered");
    expect(cloud.vms.size).toBe(1);
  });

  it("old files are removed when there are many", async () => {
    const { client, records } = await stage();
    await mkdir(records, { recursive: true });
    const long = new Date(Date.now() - 8 * 24 * 3600 * 1000);
    for (let i = 0; i < 600; i++) {
      const file = join(records, `${i}.json`);
      await writeFile(file, "{}");
      if (i % 2 === 0) await utimes(file, long, long);
    }
    resultOf(await client.request(ask("create_disk", DISK, { requestId: "cpi-1" })));
    const left = await readdir(records);
    expect(left).toHaveLength(301);
    expect(
      left.filter((name) => /^\d+\.json$/.test(name)).every((name) => Number.parseInt(name, 10) % 2 === 1),
    ).toBe(true);
  });
});
