import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import { describe, expect, it } from "vitest";
import { CpiLost, CpiRefused } from "./cloud.ts";
import type { CpiPort } from "./cpi-port.ts";
import { configuredClouds } from "./testing/configured.ts";
import { cloudOf, createArgs, DISK, info, NETWORKS, no, ok, VM } from "./testing/scripted-cpi.ts";

const DISKS = { system: "/dev/sda", ephemeral: "/dev/sdb" };
const STEMCELL = { stemcellApiVersion: 2 };
const methods = (sent: readonly CpiRequest[]) => sent.map(({ method }) => method);

describe("a CPI that starts another one, whose version changes without a trace", () => {
  /** Refuses calls of a version above its own, as upstream's CPIs do. */
  function wrapper(first: number) {
    let version = first;
    const refusing = (request: CpiRequest): CpiResponse =>
      (request.api_version ?? 1) > version
        ? no("Bosh::Clouds::CPIAPIVersionNotSupported", "CPI API version is not supported")
        : ok("disk-1");
    const made = cloudOf({ info: () => info(version), create_disk: refusing });
    return { ...made, become: (now: number) => (version = now) };
  }

  it("is called by its version of now after it has refused a call of the version of before", async () => {
    const { cloud, call, sent, become } = wrapper(2);
    await cloud.createDisk(64, {}, null, call());
    become(1);
    expect(await cloud.createDisk(64, {}, null, call())).toBe("disk-1");
    expect(methods(sent)).toEqual(["info", "create_disk", "create_disk", "info", "create_disk"]);
    expect(sent.map((request) => request.api_version)).toEqual([undefined, 2, 2, undefined, 1]);
  });

  it("is asked for its info again after an answer of another form", async () => {
    const answers = [ok(VM), ok([VM, NETWORKS])];
    const { cloud, call, sent } = cloudOf({
      info: info(2),
      create_vm: () => answers.shift() ?? ok(null),
    });
    await expect(cloud.createVm(createArgs(), call(STEMCELL))).rejects.toBeInstanceOf(CpiLost);
    await cloud.createVm(createArgs(), call(STEMCELL));
    expect(methods(sent)).toEqual(["info", "create_vm", "info", "create_vm"]);
  });

  it("is not called twice if its info has not changed", async () => {
    const { cloud, call, sent } = cloudOf({ info: info(2), create_disk: no("InvalidCall", "no such size") });
    await expect(cloud.createDisk(64, {}, null, call())).rejects.toBeInstanceOf(CpiRefused);
    expect(methods(sent)).toEqual(["info", "create_disk", "info"]);
  });

  it("is not asked for its info again after an error of its cloud", async () => {
    const { cloud, call, sent } = cloudOf({ info: info(2), create_disk: no("Bosh::Clouds::NoDiskSpace") });
    for (const _ of [1, 2])
      await expect(cloud.createDisk(64, {}, null, call())).rejects.toBeInstanceOf(CpiRefused);
    expect(methods(sent)).toEqual(["info", "create_disk", "create_disk"]);
  });
});

describe("a CPI that announces no draft", () => {
  const HINT = ok("/dev/sdc");

  it("gets the disks of the VM with attach_disk once it has answered create_vm with disks", async () => {
    const { cloud, call, last } = cloudOf({
      info: info(2),
      create_vm: ok([VM, DISKS]),
      attach_disk: HINT,
    });
    await cloud.attachDisk(VM, DISK, call(STEMCELL));
    expect(last().arguments).toEqual([VM, DISK]);
    const { disks } = await cloud.createVm(createArgs(), call(STEMCELL));
    await cloud.attachDisk(VM, DISK, call({ ...STEMCELL, disks }));
    expect(last().arguments).toEqual([VM, DISK, DISKS]);
  });

  it("does not get them for having answered create_vm with networks", async () => {
    const { cloud, call, last } = cloudOf({
      info: info(2),
      create_vm: ok([VM, NETWORKS]),
      attach_disk: HINT,
    });
    await cloud.createVm(createArgs(), call(STEMCELL));
    await cloud.attachDisk(VM, DISK, call({ ...STEMCELL, disks: { persistent: {} } }));
    expect(last().arguments).toEqual([VM, DISK]);
  });

  it("does not get them if it announces that it takes none", async () => {
    const { cloud, call, last } = cloudOf({
      info: info(2, { attach_disk_takes_disks: false }),
      create_vm: ok([VM, DISKS]),
      attach_disk: HINT,
    });
    await cloud.createVm(createArgs(), call(STEMCELL));
    await cloud.attachDisk(VM, DISK, call({ ...STEMCELL, disks: DISKS }));
    expect(last().arguments).toEqual([VM, DISK]);
  });

  it("is called without them from the moment it refuses a third argument", async () => {
    const { cloud, call, sent } = cloudOf({
      info: info(2),
      create_vm: ok([VM, DISKS]),
      attach_disk: ({ arguments: args }) =>
        args.length === 2 ? HINT : no("InvalidCall", "wrong number of arguments (given 3, expected 2)"),
    });
    const about = () => call({ ...STEMCELL, disks: DISKS });
    await cloud.createVm(createArgs(), about());
    expect(await cloud.attachDisk(VM, DISK, about())).toMatchObject({ hint: "/dev/sdc" });
    await cloud.attachDisk(VM, DISK, about());
    const attached = sent.filter(({ method }) => method === "attach_disk");
    expect(attached.map(({ arguments: args }) => args.length)).toEqual([3, 2, 2]);
  });

  it("has shown its dialect to later tasks, too", async () => {
    const sent: CpiRequest[] = [];
    const answers: Readonly<Record<string, CpiResponse>> = {
      info: info(2),
      create_vm: ok([VM, DISKS]),
      attach_disk: HINT,
    };
    const port: CpiPort = {
      command: "/the/cpi",
      call: async (request) => {
        sent.push(request);
        return answers[request.method] ?? ok(null);
      },
    };
    const clouds = configuredClouds({ own: { name: "", port } });
    const { call } = cloudOf({});
    await clouds.of([]).cloud("").createVm(createArgs(), call(STEMCELL));
    await clouds.of([]).cloud("").attachDisk(VM, DISK, call(STEMCELL));
    expect(methods(sent)).toEqual(["info", "create_vm", "info", "attach_disk"]);
    expect(sent.at(-1)?.arguments).toEqual([VM, DISK, {}]);
  });
});
