import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { SnapshotCid } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import { type Cloud, CpiLost, CpiRefused } from "./cloud.ts";
import { BadCpiProperties } from "./errors.ts";
import { DIRECTOR } from "./testing/cpi-files.ts";
import { cloudOf, createArgs, DISK, info, NETWORKS, no, ok, STEMCELL, VM } from "./testing/scripted-cpi.ts";

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => expect.fail("it worked"),
    (error: unknown) => error,
  );

describe("a request", () => {
  it("has upstream's keys in upstream's order, with the stemcell and the disks of the VM in its context", async () => {
    const { cloud, call, last } = cloudOf({ info: info(2), attach_disk: ok("/dev/sdc") });
    const disks = { system: "/dev/sda", persistent: { "disk-1": "/dev/sdb" } };
    await cloud.attachDisk(VM, DISK, call({ stemcellApiVersion: 2, disks }));
    expect(JSON.stringify(last())).toBe(
      JSON.stringify({
        method: "attach_disk",
        arguments: [VM, DISK],
        context: {
          director_uuid: DIRECTOR,
          request_id: "cpi-482913",
          vm: { stemcell: { api_version: 2 }, disks },
        },
        api_version: 2,
      }),
    );
  });

  it("sends no VM context with calls about no VM, and the CPI's properties flat beside the Director's", async () => {
    const properties = { region: "r-1", aws: { access_key: "k" } };
    const { cloud, call, sent } = cloudOf({ info: info(2), create_disk: ok("disk-1") }, { properties });
    await cloud.createDisk(64, {}, null, call());
    const [first, second] = sent;
    expect(first).toEqual({
      method: "info",
      arguments: [],
      context: { director_uuid: DIRECTOR, request_id: expect.stringMatching(/^cpi-\w+$/), ...properties },
    });
    expect(second?.context).toEqual({ director_uuid: DIRECTOR, request_id: "cpi-482913", ...properties });
  });

  it("cannot be made another one's by the properties of a CPI", () => {
    expect(() => cloudOf({}, { properties: { request_id: "x", vm: {} } })).toThrow(
      BadCpiProperties({ name: "", keys: ["request_id", "vm"] }).message,
    );
  });

  const metadata = { director: "d" };
  const cases: readonly [
    string,
    (cloud: Cloud, call: never) => Promise<unknown>,
    unknown,
    unknown[],
    unknown,
  ][] = [
    ["delete_stemcell", (c, o) => c.deleteStemcell(STEMCELL, o), null, [STEMCELL], undefined],
    ["delete_vm", (c, o) => c.deleteVm(VM, o), true, [VM], undefined],
    ["has_vm", (c, o) => c.hasVm(VM, o), false, [VM], false],
    ["reboot_vm", (c, o) => c.rebootVm(VM, o), "", [VM], undefined],
    ["set_vm_metadata", (c, o) => c.setVmMetadata(VM, metadata, o), null, [VM, metadata], undefined],
    [
      "calculate_vm_cloud_properties",
      (c, o) => c.calculateVmCloudProperties({ ram: 1, cpu: 1, ephemeral_disk_size: 1 }, o),
      { cpus: 1 },
      [{ ram: 1, cpu: 1, ephemeral_disk_size: 1 }],
      { cpus: 1 },
    ],
    [
      "create_disk",
      (c, o) => c.createDisk(64, { type: "ssd" }, VM, o),
      DISK,
      [64, { type: "ssd" }, VM],
      DISK,
    ],
    ["delete_disk", (c, o) => c.deleteDisk(DISK, o), null, [DISK], undefined],
    ["has_disk", (c, o) => c.hasDisk(DISK, o), true, [DISK], true],
    ["detach_disk", (c, o) => c.detachDisk(VM, DISK, o), true, [VM, DISK], undefined],
    ["set_disk_metadata", (c, o) => c.setDiskMetadata(DISK, metadata, o), null, [DISK, metadata], undefined],
    ["resize_disk", (c, o) => c.resizeDisk(DISK, 128, o), null, [DISK, 128], undefined],
    ["update_disk", (c, o) => c.updateDisk(DISK, 128, {}, o), null, [DISK, 128, {}], DISK],
    ["update_disk", (c, o) => c.updateDisk(DISK, 128, {}, o), "disk-10", [DISK, 128, {}], "disk-10"],
    ["snapshot_disk", (c, o) => c.snapshotDisk(DISK, metadata, o), "snap-3", [DISK, metadata], "snap-3"],
    ["delete_snapshot", (c, o) => c.deleteSnapshot("snap-3" as SnapshotCid, o), null, ["snap-3"], undefined],
  ];
  it.each(cases)(
    "sends the arguments of %s and returns its result",
    async (method, ask, answer, args, result) => {
      const { cloud, call, last } = cloudOf({ info: info(3), [method]: ok(answer) });
      expect(await ask(cloud, call() as never)).toEqual(result);
      expect(last()).toMatchObject({ method, arguments: args, api_version: 3 });
    },
  );
});

describe("versions", () => {
  it.each([
    [3, undefined, 3],
    [3, 2, 2],
    [2, 3, 2],
    [1, 3, 1],
    [undefined, 3, 1],
    [99, undefined, 3],
  ])("CPI %s and Director %s agree on %s", async (cpi, maxApiVersion, agreed) => {
    const options = { maxApiVersion: maxApiVersion as ApiVersion | undefined };
    const { cloud, call, last } = cloudOf({ info: info(cpi), create_stemcell: ok("img-1") }, options);
    expect((await cloud.info()).apiVersion).toBe(agreed);
    await cloud.createStemcell("/image", { a: 1 }, { team: "x" }, call());
    expect(last().api_version).toBe(agreed);
    const tags = agreed === 3 ? [{ tags: { team: "x" } }] : [];
    expect(last().arguments).toEqual(["/image", { a: 1 }, ...tags]);
  });

  it("info is asked once, however many ask at the same time", async () => {
    const { cloud, call, sent } = cloudOf({ info: info(2), has_vm: ok(true) });
    await Promise.all([cloud.info(), cloud.hasVm(VM, call()), cloud.hasVm(VM, call())]);
    await cloud.hasVm(VM, call());
    expect(sent.map(({ method }) => method)).toEqual(["info", "has_vm", "has_vm", "has_vm"]);
  });

  it("a failed info is asked again", async () => {
    const answers = [no("Bosh::Clouds::CloudError", "no network"), ok({ api_version: "2" }), info(2)];
    const { cloud, call, sent } = cloudOf({ info: () => answers.shift() ?? no("x"), has_vm: ok(true) });
    expect(await failure(cloud.hasVm(VM, call()))).toBeInstanceOf(CpiRefused);
    expect(String(await failure(cloud.info()))).toMatch(/api_version/);
    expect(await cloud.hasVm(VM, call())).toBe(true);
    expect(sent.map(({ method }) => method)).toEqual(["info", "info", "info", "has_vm"]);
  });

  it.each([
    ["Bosh::Clouds::NotImplemented", "no info"],
    ["InvalidCall", "Method is not known, got: 'info'"],
    ["Bosh::Clouds::CloudError", "Invalid Method: info"],
  ])("a CPI without info (%s) is one of version 1", async (type, message) => {
    const { cloud } = cloudOf({ info: no(type, message) });
    const plain = { apiVersion: 1, stemcellFormats: undefined, capabilities: {}, repeatable: false };
    expect(await cloud.info()).toEqual(plain);
  });

  it("formats may be missing, and repeats are promised only by those who say so", async () => {
    const quiet = await cloudOf({ info: ok({ api_version: 2, capabilities: null }) }).cloud.info();
    expect(quiet).toMatchObject({ stemcellFormats: undefined, repeatable: false });
    const sure = await cloudOf({ info: info(2, { repeats_by_request_id: true }) }).cloud.info();
    expect(sure).toMatchObject({ stemcellFormats: ["a-tar"], repeatable: true });
  });

  it("one who stops waiting for info does not stop the others; the last one does", async () => {
    let answer = () => {};
    const { cloud, callOptions } = cloudOf({
      info: () => new Promise((resolve) => (answer = () => resolve(info(2)))),
    });
    const first = new AbortController();
    const second = new AbortController();
    const waiting = [cloud.info({ signal: first.signal }), cloud.info({ signal: second.signal })];
    first.abort(new Error("first left"));
    expect(await failure(waiting[0] as Promise<unknown>)).toMatchObject({ message: "first left" });
    expect(callOptions[0]?.signal?.aborted).toBe(false);
    second.abort(new Error("second left"));
    await failure(waiting[1] as Promise<unknown>);
    expect(callOptions[0]?.signal?.aborted).toBe(true);
    const again = cloud.info();
    await expect.poll(() => callOptions.length).toBe(2);
    answer();
    expect((await again).apiVersion).toBe(2);
  });
});

describe("deadlines", () => {
  it.each([
    [
      undefined,
      { info: 300_000, has_vm: 3600_000, create_stemcell: 4 * 3600_000, snapshot_disk: 4 * 3600_000 },
    ],
    [60_000, { info: 60_000, has_vm: 60_000, create_stemcell: 60_000, snapshot_disk: 60_000 }],
  ])("a longest time of %s ms gives the deadlines %j", async (longestMs, expected) => {
    const answers = { info: info(2), has_vm: ok(true), create_stemcell: ok("i"), snapshot_disk: ok("s") };
    const { cloud, call, sent, callOptions } = cloudOf(answers, { longestMs });
    await cloud.hasVm(VM, call());
    await cloud.createStemcell("/image", {}, {}, call());
    await cloud.snapshotDisk(DISK, {}, call());
    expect(Object.fromEntries(sent.map(({ method }, at) => [method, callOptions[at]?.deadlineMs]))).toEqual(
      expected,
    );
  });
});

describe("what create_vm returns", () => {
  const disks = { system: "/dev/sda", ephemeral: "/dev/sdb" };
  const other = { private: { ...NETWORKS.private, ip: "10.0.4.10" } };
  it.each([
    ["version 1", 1, "vm-1", { cid: "vm-1", networks: NETWORKS, disks: {} }],
    ["version 2", 2, ["vm-1", other], { cid: "vm-1", networks: other, disks: {} }],
    ["version 2, no networks", 2, ["vm-1", {}], { cid: "vm-1", networks: NETWORKS, disks: {} }],
    ["draft A", 2, ["vm-1", disks], { cid: "vm-1", networks: NETWORKS, disks }],
    ["draft B", 2, ["vm-1", other, disks], { cid: "vm-1", networks: other, disks }],
  ])("in %s is read", async (_, version, result, expected) => {
    const { cloud, call } = cloudOf({ info: info(version), create_vm: ok(result) });
    expect(await cloud.createVm(createArgs(), call({ stemcellApiVersion: 2 }))).toEqual(expected);
  });

  it.each([
    ["a string where an array is expected", 2, "vm-1", /must return \[cid, networks\], got a string/],
    ["an array where a string is expected", 1, ["vm-1", {}], /non-empty string, got an array of 2/],
    ["an empty cid", 1, "", /got an empty string/],
    ["an empty cid in an array", 2, ["", {}], /got an empty string/],
    ["a cid of 1 MB", 1, "x".repeat(1 << 20), /too long \(1048576 characters\)/],
    ["a cid of 1 MB in an array", 2, ["x".repeat(1 << 20), {}], /too long \(1048576 characters\)/],
    ["an empty array", 2, [], /got nothing/],
    ["null", 2, null, /got null/],
    ["networks that are none", 2, ["vm-1", "x"], /networks/],
    ["too much", 3, ["vm-1", {}, {}, {}], /array of 4/],
  ])("%s under version %s is lost, not guessed at", async (_, version, result, words) => {
    const { cloud, call } = cloudOf({ info: info(version), create_vm: ok(result) });
    const error = await failure(cloud.createVm(createArgs(), call({ stemcellApiVersion: 2 })));
    expect(error).toBeInstanceOf(CpiLost);
    expect((error as CpiLost).method).toBe("create_vm");
    expect((error as Error).message).toMatch(words);
    expect((error as Error).message).toContain("CPI request ID: 'cpi-482913'");
  });
});

describe("what other methods return is checked:", () => {
  it.each([
    ["create_disk", "", (c: Cloud, o: never) => c.createDisk(1, {}, null, o), /a disk cid must not be empty/],
    ["create_disk", "x".repeat(1 << 20), (c: Cloud, o: never) => c.createDisk(1, {}, null, o), /2048 bytes/],
    ["create_disk", "a\0b", (c: Cloud, o: never) => c.createDisk(1, {}, null, o), /neither NUL/],
    [
      "create_stemcell",
      "\u{1F4A9}".repeat(513),
      (c: Cloud, o: never) => c.createStemcell("/i", {}, {}, o),
      /2048/,
    ],
    ["snapshot_disk", "x".repeat(3000), (c: Cloud, o: never) => c.snapshotDisk(DISK, {}, o), /2048 bytes/],
    ["create_disk", 7, (c: Cloud, o: never) => c.createDisk(1, {}, null, o), /returned a number/],
    ["create_stemcell", null, (c: Cloud, o: never) => c.createStemcell("/i", {}, {}, o), /returned null/],
    ["has_vm", "true", (c: Cloud, o: never) => c.hasVm(VM, o), /returned a string/],
    ["has_disk", null, (c: Cloud, o: never) => c.hasDisk(DISK, o), /returned null/],
    ["update_disk", "", (c: Cloud, o: never) => c.updateDisk(DISK, 1, {}, o), /must not be empty/],
    ["snapshot_disk", " ", (c: Cloud, o: never) => c.snapshotDisk(DISK, {}, o), /must not be empty/],
    ["attach_disk", null, (c: Cloud, o: never) => c.attachDisk(VM, DISK, o), /No disk_hint/],
    ["attach_disk", {}, (c: Cloud, o: never) => c.attachDisk(VM, DISK, o), /No disk_hint/],
    ["attach_disk", { lun: 0 }, (c: Cloud, o: never) => c.attachDisk(VM, DISK, o), /no usable disk hint/],
    [
      "calculate_vm_cloud_properties",
      [],
      (c: Cloud, o: never) => c.calculateVmCloudProperties({}, o),
      /array/,
    ],
  ])("%s with %j", async (method, result, ask, words) => {
    const { cloud, call } = cloudOf({ info: info(2), [method]: ok(result) });
    const error = await failure(ask(cloud, call({ stemcellApiVersion: 2 }) as never));
    expect(error).toBeInstanceOf(CpiLost);
    expect((error as Error).message).toMatch(words);
  });

  it.each([
    [1, "anything", { hint: undefined, disks: undefined }],
    [2, "/dev/sdc", { hint: "/dev/sdc", disks: undefined }],
    [
      2,
      { lun: "1", host_device_id: "{f8}", more: "x" },
      { hint: { lun: "1", host_device_id: "{f8}", more: "x" } },
    ],
    [
      2,
      { system: "/dev/sda", persistent: { [DISK]: { path: "/dev/sdc" } } },
      {
        hint: { path: "/dev/sdc" },
        disks: { system: "/dev/sda", persistent: { [DISK]: { path: "/dev/sdc" } } },
      },
    ],
  ])("attach_disk under version %s with %j is read", async (version, result, expected) => {
    const { cloud, call } = cloudOf({ info: info(version), attach_disk: ok(result) });
    expect(await cloud.attachDisk(VM, DISK, call({ stemcellApiVersion: 2 }))).toMatchObject(expected);
  });
});

describe("draft dialects", () => {
  const drafts = {
    attach_disk_takes_disks: true,
    detach_disk_returns_disks: true,
    bootstrap_settings_arg: true,
  };
  const disks = { system: "/dev/sda", persistent: {} };
  const env = {
    bosh: { ntp: ["t"], mbus: { urls: ["nats://a"] }, blobstores: [{ provider: "dav" }], group: "g" },
  };
  const shapes = async (version: number, capabilities: object | undefined) => {
    const answers = {
      info: info(version, capabilities),
      attach_disk: ok("/dev/sdc"),
      create_vm: ok(version === 1 ? "vm-1" : ["vm-1", {}]),
    };
    const { cloud, call, sent } = cloudOf(answers);
    const options = call({ stemcellApiVersion: 2, disks });
    await cloud.createVm(createArgs({ env }), options);
    await cloud.attachDisk(VM, DISK, options);
    await cloud.detachDisk(VM, DISK, options);
    return sent.slice(1).map((request) => request.arguments);
  };
  const shipped = [
    ["8a1c0d8e", STEMCELL, { cpu: 2 }, NETWORKS, [DISK], env],
    [VM, DISK],
    [VM, DISK],
  ];

  it("are spoken with a CPI that announces them", async () => {
    const settings = { agent_id: "8a1c0d8e", mbus: "nats://a", ntp: ["t"], blobstore: { provider: "dav" } };
    expect(await shapes(2, drafts)).toEqual([
      [STEMCELL, { cpu: 2 }, settings, NETWORKS, [DISK], env],
      [VM, DISK, disks],
      [VM, DISK, disks],
    ]);
  });

  it.each([
    ["announces none", 2, undefined],
    ["announces something else", 2, { repeats_by_request_id: true }],
    ["says no", 3, { attach_disk_takes_disks: false }],
    ["speaks version 1", 1, drafts],
  ])("are not sent to a CPI that %s", async (_, version, capabilities) => {
    expect(await shapes(version, capabilities)).toEqual(shipped);
  });
});

describe("what detach_disk answers", () => {
  const left = { system: "/dev/sda", persistent: { "disk-2": "/dev/sdd" } };
  const answered = (version: number, capabilities: object | undefined, result: unknown) => {
    const { cloud, call } = cloudOf({ info: info(version, capabilities), detach_disk: ok(result) });
    return cloud.detachDisk(VM, DISK, call({ stemcellApiVersion: 2, channel: "user-data" }));
  };
  const draft = { detach_disk_returns_disks: true };

  it("is all disks that are left, of a CPI that announces draft B", async () => {
    expect(await answered(2, draft, left)).toEqual(left);
  });

  it.each<[string, number, object | undefined, unknown]>([
    ["announces nothing", 2, undefined, left],
    ["speaks version 1", 1, draft, left],
    ["returns nothing after all", 2, draft, null],
    ["returns true, as the documents have it", 2, draft, true],
  ])("means nothing of a CPI that %s", async (_, version, capabilities, result) => {
    expect(await answered(version, capabilities, result)).toBeUndefined();
  });

  it.each([
    ["the disk that was detached", { persistent: { [DISK]: "/dev/sdc" } }, "still among them"],
    ["no disks", { persistent: { other: 7 } }, "persistent"],
    ["a list", ["/dev/sdc"], "must return the disks"],
  ])("is refused when it has %s", async (_, result, why) => {
    expect(String(await failure(answered(2, draft, result)))).toContain(why);
  });
});

describe("an error of the CPI", () => {
  it.each([
    ["Bosh::Clouds::VMCreationFailed", true, "CPI error", "VMCreationFailed", true],
    ["Bosh::Clouds::VMCreationFailed", false, "CPI error", "VMCreationFailed", false],
    ["Bosh::Clouds::CloudError", true, "CPI error", "CloudError", false],
    ["Bosh::Clouds::DiskNotFound", true, "CPI error", "DiskNotFound", true],
    ["Bosh::Clouds::StemcellNotFound", true, "Unknown CPI error", "StemcellNotFound", false],
    ["Bosh::Clouds::Whatever", true, "Unknown CPI error", undefined, false],
  ])("%s (ok_to_retry %s) reads as upstream's", async (type, flag, words, errorName, okToRetry) => {
    const { cloud, call, sent } = cloudOf({ info: info(2), delete_vm: no(type, "quota exceeded", flag) });
    const error = await failure(cloud.deleteVm(VM, call()));
    expect(error).toBeInstanceOf(CpiRefused);
    expect(error).toMatchObject({ method: "delete_vm", type, errorName, okToRetry });
    expect((error as Error).message).toBe(
      `${words} '${type}' with message 'quota exceeded' in 'delete_vm' CPI method (CPI request ID: 'cpi-482913')`,
    );
    expect(sent).toHaveLength(2);
  });

  it("notes a CPI error that tags are not implemented and goes on; raises any other error", async () => {
    const type = "Bosh::Clouds::NotImplemented";
    const without = cloudOf({ info: info(2), set_vm_metadata: no(type), set_disk_metadata: no(type) });
    await without.cloud.setVmMetadata(VM, {}, without.call());
    await without.cloud.setDiskMetadata(DISK, {}, without.call());
    expect(without.book.text).toContain("set_vm_metadata is not implemented by this CPI");
    expect(without.book.text).toContain("set_disk_metadata is not implemented by this CPI");
    const broken = cloudOf({ info: info(2), set_vm_metadata: no("Bosh::Clouds::CloudError") });
    expect(await failure(broken.cloud.setVmMetadata(VM, {}, broken.call()))).toBeInstanceOf(CpiRefused);
    const refused = cloudOf({ info: info(2), reboot_vm: no(type) });
    expect(await failure(refused.cloud.rebootVm(VM, refused.call()))).toBeInstanceOf(CpiRefused);
  });
});
