import { describe, expect, it } from "vitest";
import type { CloudConfig, InstanceGroup } from "../manifest/model.ts";
import type { PlanOptions } from "./model.ts";
import { cloud, group, input, manifest, manual, on, planned, refused, subnet } from "./testing/builders.ts";
import { deployed, inputFor, inSequence, next, updatesOf, type World } from "./testing/world.ts";

const before = (given: Partial<InstanceGroup> = {}) => ({
  manifest: manifest([group("web", 1, { env: { bosh: { swap_size: 1 } }, ...given })], {
    tags: { team: "a" },
  }),
});
const version = (text: string) => [{ alias: "default", os: "ubuntu-jammy", name: undefined, version: text }];

interface Now {
  readonly group?: Partial<InstanceGroup>;
  readonly cloudConfig?: CloudConfig;
  readonly manifest?: Partial<Parameters<typeof manifest>[1]>;
  readonly options?: Partial<PlanOptions>;
  readonly world?: (world: World) => void;
}

function changes(now: Now, had: Partial<InstanceGroup> = {}) {
  const world = deployed(before(had));
  now.world?.(world);
  const web = group("web", 1, { env: { bosh: { swap_size: 1 } }, ...had, ...now.group });
  const made = next(world, {
    manifest: manifest([web], { tags: { team: "a" }, ...now.manifest }),
    cloudConfig: now.cloudConfig ?? cloud(),
    options: now.options ?? {},
  });
  const [update] = updatesOf(made);
  return [
    update?.action ?? "none",
    ...(update?.changes.map(({ kind, reason }) => `${kind}: ${reason}`) ?? []),
  ];
}

const privately = (given: Parameters<typeof subnet>[1]) =>
  cloud({ networks: [manual("private", subnet("10.0.0.0/16", given))] });
const first = ({ instances: [instance] }: World) => {
  if (instance === undefined) throw new Error("no instance");
  return instance;
};
const says = (state: string) => (world: World) => {
  for (const vm of first(world).vms) world.jobState.set(vm.cid, state);
};

describe("what is found to have changed", () => {
  const cases: readonly (readonly [string, Now, readonly string[]])[] = [
    ["nothing", {}, ["none"]],
    [
      "another name for the same VM type",
      {
        group: { vmType: "same" },
        cloudConfig: { ...cloud(), vmTypes: [{ name: "same", cloudProperties: { cpu: 1 } }] },
      },
      ["none"],
    ],
    [
      "the update policy",
      { group: { update: { ...group("x", 1).update, canaries: { count: 5 } } } },
      ["none"],
    ],
    [
      "reserved addresses elsewhere",
      { cloudConfig: privately({ reserved: [{ first: 167837696n, last: 167837697n }] }) },
      ["none"],
    ],
    [
      "a stemcell version",
      { manifest: { stemcells: version("1.2") } },
      ["recreate", "stemcell: stemcell bosh-docker-ubuntu-jammy/1.1 -> 1.2"],
    ],
    [
      "a VM type",
      { group: { vmType: "large" } },
      ["recreate", "cloud_properties: cloud properties changed: cpu"],
    ],
    [
      "the resources of the VM",
      {
        group: { vmResources: { cpu: 2, ram: 1024, ephemeral_disk_size: 1024 } },
        world: (world) => {
          world.instances = world.instances.map((one) => ({
            ...one,
            spec: one.spec && { ...one.spec, vmResources: { cpu: 1, ram: 1024, ephemeral_disk_size: 1024 } },
          }));
        },
      },
      ["recreate", "cloud_properties: vm_resources changed"],
    ],
    [
      "an extension",
      { group: { vmExtensions: ["lb"] } },
      ["recreate", "cloud_properties: cloud properties changed: pool"],
    ],
    ["env", { group: { env: { bosh: { swap_size: 2 } } } }, ["recreate", "env: env changed: bosh.swap_size"]],
    [
      "dns",
      { cloudConfig: privately({ dns: ["1.1.1.1"] }) },
      ["recreate", "network: network 'private': dns changed"],
    ],
    [
      "network properties",
      { cloudConfig: privately({ cloudProperties: { name: "x" } }) },
      ["recreate", "network: network 'private': cloud_properties changed"],
    ],
    [
      "defaults",
      { group: { networks: [{ ...on("private"), default: ["dns"] }] } },
      ["recreate", "network: network 'private': default changed"],
    ],
    ["tags", { manifest: { tags: { team: "b" } } }, ["metadata", "tags: tags changed: team"]],
    [
      "a first disk",
      { group: { persistentDisk: { size: 100 } } },
      ["update", "persistent_disk: gets a persistent disk of 100 MB"],
    ],
    ["recreate", { options: { recreate: true } }, ["recreate", "recreate: recreate was asked for"]],
    ["recreate of older VMs only", { options: { recreate: true, recreateVmsCreatedBefore: 1 } }, ["none"]],
    [
      "recreate of this older VM",
      { options: { recreate: true, recreateVmsCreatedBefore: 100 } },
      ["recreate", "recreate: recreate was asked for"],
    ],
    [
      "an unfinished update",
      { world: (world) => Object.assign(first(world), { updateCompleted: false }) },
      ["update", "dirty: its last update did not finish"],
    ],
    [
      "a lost VM",
      { world: (world) => Object.assign(first(world), { vms: [] }) },
      ["create", "missing_vm: its VM is missing"],
    ],
    [
      "jobs that fail",
      { world: says("failing") },
      ["update", "state: it is to run, but its agent says 'failing'"],
    ],
    [
      "a lost bootstrap flag",
      { world: (world) => Object.assign(first(world), { bootstrap: false }) },
      ["update", "configuration: it is the bootstrap instance now"],
    ],
  ];
  it.each(cases)("%s", (_, now, expected) => {
    expect(changes(now)).toEqual(expected);
  });

  it.each([
    ["another size", { persistentDisk: { size: 200 } }, {}, ["persistent disk 100 MB -> 200 MB"]],
    ["none any more", {}, {}, ["persistent disk 'disk-4' is no longer wanted"]],
    [
      "another type",
      { persistentDisk: { type: "d1" } },
      {},
      ["persistent disk 100 MB -> 1024 MB", "persistent disk's cloud properties changed: kind"],
    ],
    [
      "a new one for its own sake",
      { persistentDisk: { size: 100 } },
      { recreateDisksCreatedBefore: 1 },
      ["new persistent disks were asked for"],
    ],
  ])("changes of a disk: %s", (_, disk, options, reasons) => {
    const now = { group: { persistentDisk: undefined, ...disk }, options };
    expect(changes(now, { persistentDisk: { size: 100 } })).toEqual([
      "update",
      ...reasons.map((reason) => `persistent_disk: ${reason}`),
    ]);
  });

  it.each([
    ["detached", { attachedTo: null, mounted: false }, "is not attached"],
    ["unmounted", { mounted: false }, "is not mounted"],
  ])("changes of a disk that was %s", (_, change, reason) => {
    const world = (one: World) => Object.assign(first(one).disks[0] ?? {}, change);
    expect(changes({ world }, { persistentDisk: { size: 100 } })).toEqual([
      "update",
      `persistent_disk: persistent disk 'disk-4' ${reason}`,
    ]);
  });

  it("never tells what env or properties hold", () => {
    const made = changes({ group: { env: { bosh: { swap_size: 1, password: "S3CRET" } }, vmType: "large" } });
    expect(made.join()).toContain("bosh.password");
    expect(made.join()).not.toContain("S3CRET");
  });

  it("an address held for a plan that was given up", () => {
    const hold = (world: World) =>
      first(world).ips.push({ address: "10.0.0.77", network: "private", static: false });
    expect(changes({ world: hold })).toEqual(["update", "network: address 10.0.0.77 is no longer needed"]);
  });

  it("names the group an instance came from", () => {
    const world = deployed(before());
    const moved = group("api", 1, {
      env: { bosh: { swap_size: 1 } },
      migratedFrom: [{ name: "web", az: undefined }],
    });
    const [update] = updatesOf(next(world, { manifest: manifest([moved], { tags: { team: "a" } }) }));
    expect(update?.changes).toEqual([{ kind: "job", reason: "migrated from instance group 'web'" }]);
  });

  it("compares with the VM, not the spec, while an update is unfinished", () => {
    const world = deployed(before());
    const changed = { manifest: before().manifest, cloudConfig: privately({ dns: ["1.1.1.1"] }) };
    const instance = first(world);
    // Killed just before the end: the VM is new, the spec is old.
    Object.assign(instance.vms[0] ?? {}, { networks: next(world, changed).desired[0]?.networks });
    instance.updateCompleted = false;
    expect(updatesOf(next(world, changed)).map(({ action }) => action)).toEqual(["update"]);
    expect(updatesOf(next(world, before())).map(({ action }) => action)).toEqual(["recreate"]);
  });
});

describe("the state of an instance", () => {
  const web = (count = 2) => ({ manifest: manifest([group("web", count), group("db", 1)]) });
  const change = (to: "started" | "stopped" | "detached" | "restart" | "recreate", at?: string) => ({
    ...web(),
    options: { state: { group: "web", instance: at, to } },
  });
  const touched = (world: World, given: Parameters<typeof next>[1]) =>
    updatesOf(next(world, given)).map(
      ({ action, desired, changes: [one] }) => `${desired?.group}/${desired?.index} ${action} ${one?.reason}`,
    );

  it.each([
    ["stopped", undefined, ["web/0 stop state started -> stopped", "web/1 stop state started -> stopped"]],
    ["stopped", "1", ["web/1 stop state started -> stopped"]],
    ["stopped", "u000001", ["web/0 stop state started -> stopped"]],
    ["detached", "0", ["web/0 detach state started -> detached"]],
    ["restart", "0", ["web/0 update restart was asked for"]],
    ["recreate", "0", ["web/0 recreate recreate was asked for"]],
    ["started", undefined, []],
  ] as const)("%s of %s", (to, at, expected) => {
    expect(touched(deployed(web()), change(to, at))).toEqual(expected);
  });

  it.each(["stopped", "detached"] as const)("lasts through deploys: %s", (to) => {
    const world = deployed(web());
    const made = next(world, change(to, "0"));
    expect(made.desired[0]?.state).toBe(to);
    const after = deployed(web());
    Object.assign(first(after), { state: to });
    if (to === "detached") first(after).vms = [];
    else says("stopped")(after);
    const again = next(after, web());
    expect(inSequence(again)).toEqual([]);
    expect(again.desired[0]?.state).toBe(to);
    expect(again.notes).toEqual([`instance 'web/u000001' stays ${to}`]);
    expect(touched(after, change("started", "0"))).toEqual([
      `web/0 ${to === "detached" ? "create" : "update"} state ${to} -> started`,
    ]);
  });

  it("is put right when a stopped instance runs", () => {
    const world = deployed(web());
    Object.assign(first(world), { state: "stopped" });
    expect(touched(world, web())).toEqual(["web/0 stop it is to be stopped, but its agent says 'running'"]);
  });

  it.each([
    [{ group: "none", instance: undefined }, 70009],
    [{ group: "web", instance: "7" }, 70001],
    [{ group: "web", instance: "1" }, 140021],
  ])("rejects a state change of %o", (at, code) => {
    const world = deployed(web());
    for (const one of world.instances) one.ignore = one.group === "web" && one.index === 1;
    const state = { ...at, to: "stopped" as const };
    expect(refused(inputFor(world, { ...web(), options: { state } }))[0]?.code).toBe(code);
  });
});

describe("an agent that does not answer", () => {
  const web = { manifest: manifest([group("web", 2)]) };

  it("is named, with what it said, and what to do", () => {
    const world = deployed(web);
    world.silent.add(first(world).uuid);
    expect(refused(inputFor(world, web))).toEqual([
      {
        code: 450002,
        where: "web/u000001 (0)",
        problem: "The agent of instance 'web/u000001 (0)' does not answer: timed out",
        fix: expect.stringContaining("--fix"),
      },
    ]);
  });

  it("is replaced with --fix, without a word to it", () => {
    const world = deployed(web);
    world.silent.add(first(world).uuid);
    const [update] = updatesOf(next(world, { ...web, options: { fix: true } }));
    expect(update).toMatchObject({ action: "recreate", unresponsive: true });
    expect(update?.steps[0]?.name).toBe("delete_vm");
  });

  it("does not matter when the instance is ignored", () => {
    const world = deployed(web);
    first(world).ignore = true;
    world.silent.add(first(world).uuid);
    const made = planned({ ...inputFor(world, web), agents: new Map() });
    expect(inSequence(made)).toEqual([]);
    expect(made.notes).toEqual([
      "You have ignored instances. They will not be changed.",
      "instance 'web/u000001' is ignored: nothing is changed about it",
    ]);
  });
});

it("a plan of an empty manifest is empty", () => {
  const made = planned(input({ manifest: manifest([]) }));
  expect([made.desired, made.groups, inSequence(made)]).toEqual([[], [], []]);
});
