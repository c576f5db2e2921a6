import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CpiRefused } from "@slipway/engine/clouds/cloud";
import { changeInstance, InstanceWriteBuffer } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { BadWrite, InstanceHolds } from "@slipway/engine/journal/errors";
import type { IntentKey } from "@slipway/engine/journal/journal";
import { NO_EFFECTS, type Writes } from "@slipway/engine/journal/writes";
import type { FlowContext } from "@slipway/engine/steps/context";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId, DiskCid, VmCid } from "@slipway/protocol/ids";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { StateUnreadable } from "../errors.ts";
import { EnvStore, INSTANCE } from "./store.ts";

let dir: string;
let path: string;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = directory.path;
  path = join(dir, "lab-state.json");
  return directory.remove;
});

const open = async (): Promise<EnvStore> => {
  const store = await EnvStore.open(path, systemRandom);
  if (store === undefined) throw new Error("there is no state file");
  return store;
};

const onDisk = async (): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;

/** State file as the Go CLI writes it. */
const UPSTREAM = {
  director_id: "6f0c6e4b-6f0c-4e4b-8f0c-6e4b6f0c6e4b",
  installation_id: "0a9b6e4b-6f0c-4e4b-8f0c-6e4b6f0c6e4b",
  current_vm_cid: "vm-1",
  current_stemcell_id: "s-uuid",
  current_disk_id: "d-uuid",
  current_release_ids: ["r-uuid"],
  current_manifest_sha: "ab".repeat(64),
  disks: [
    { id: "x-uuid", cid: "disk-0", size: 1024, cloud_properties: {} },
    { id: "d-uuid", cid: "disk-1", size: 65_536, cloud_properties: { type: "ssd" } },
  ],
  stemcells: [{ id: "s-uuid", name: "n", version: "1.484", api_version: 3, cid: "sc-1" }],
  releases: [{ id: "r-uuid", name: "bosh", version: "283" }],
};

const VM = {
  cid: "vm-2" as VmCid,
  agentId: "agent-2" as AgentId,
  active: false,
  cpi: "",
  createdAt: 1,
  stemcell: { name: "n", version: "1.484", apiVersion: 3 },
  apiVersion: 2,
  channel: "user-data",
  env: {},
  cloudProperties: {},
  networks: {},
  disks: {},
  agentUrl: "https://10.0.0.6:6868",
  certificateUntil: null,
  ready: false,
} as const;

const write = (store: EnvStore, change: (writes: Writes) => void) =>
  changeInstance(INSTANCE, { journal: store }, change);

async function close(store: EnvStore, intent: IntentKey, change: (writes: Writes) => void): Promise<void> {
  const buffer = new InstanceWriteBuffer(store, store.instanceNow);
  buffer.completeIntent(intent);
  buffer.write(change);
  await buffer.flush();
}

const withInstance = async (): Promise<EnvStore> => {
  const store = await EnvStore.create(path, systemRandom);
  await store.update((draft) => {
    draft.slipway.instance = { group: "bosh", updateCompleted: false, spec: null, vms: [], disks: [] };
  });
  return store;
};

describe("the state file", () => {
  it("is upstream's JSON: its keys in its order, four blanks, no newline at the end, null for what was never set", async () => {
    await EnvStore.create(path, systemRandom);
    const text = await readFile(path, "utf8");
    const keys = Object.keys(JSON.parse(text) as object);
    expect(keys).toEqual([...Object.keys(UPSTREAM), "slipway"]);
    expect(JSON.parse(text)).toMatchObject({
      current_vm_cid: "",
      current_stemcell_id: "",
      current_disk_id: "",
      current_release_ids: null,
      current_manifest_sha: "",
      disks: null,
      stemcells: null,
      releases: null,
    });
    expect(text).toMatch(
      /^\{\n {4}"director_id": "[0-9a-f-]{36}",\n {4}"installation_id": "[0-9a-f-]{36}",\n/,
    );
    expect(text.endsWith("}")).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(dir)).toEqual(["lab-state.json"]);
  });

  it("takes over the VM, the disk with its size and the stemcell of the Go CLI's file", async () => {
    await writeFile(path, JSON.stringify(UPSTREAM, null, 4));
    const store = await open();
    expect(store.document).toMatchObject(UPSTREAM);
    const instance = store.instanceNow;
    expect(instance?.vms).toMatchObject([
      { cid: "vm-1", active: true, stemcell: { name: "n", version: "1.484", apiVersion: 3 } },
    ]);
    expect(instance?.disks).toMatchObject([
      { cid: "disk-1", size: 65_536, active: true, attachedTo: "vm-1", cloudProperties: { type: "ssd" } },
    ]);
    // Its content is unknown: nothing is copied onto it, and it is deleted in the end, as upstream does.
    expect(store.document.slipway.unusedDisks).toEqual(["disk-0"]);
    await store.update(() => undefined);
    expect(await onDisk()).toMatchObject(UPSTREAM);
  });

  it.each([
    ["from which the Go CLI has dropped our section", (state: object) => ({ ...state, slipway: undefined })],
    ["with another VM than we remember", (state: object) => ({ ...state, current_vm_cid: "vm-9" })],
  ])("%s still knows its VM and disk", async (_, change) => {
    const store = await withInstance();
    await write(store, (writes) => {
      writes.addVm(VM);
      writes.activateVm(VM.cid);
      writes.addDisk({
        cid: "disk-2" as DiskCid,
        size: 5,
        cloudProperties: {},
        cpi: "",
        active: false,
      });
      writes.switchDisk("disk-2" as DiskCid);
    });
    const changed = change(await onDisk()) as unknown as typeof UPSTREAM;
    await writeFile(path, JSON.stringify(changed));
    const instance = (await open()).instanceNow;
    expect(instance?.vms.map(({ cid, active }) => [cid, active])).toEqual([[changed.current_vm_cid, true]]);
    expect(instance?.disks).toMatchObject([{ cid: "disk-2", size: 5, active: true }]);
  });

  it("from which an operator took the VM has none any more", async () => {
    const store = await withInstance();
    await write(store, (writes) => writes.addVm(VM));
    await writeFile(path, JSON.stringify({ ...(await onDisk()), current_vm_cid: "" }));
    expect((await open()).instanceNow?.vms).toEqual([]);
  });

  it("keeps keys of others", async () => {
    await writeFile(path, JSON.stringify({ ...UPSTREAM, future_key: { a: 1 } }));
    const store = await open();
    await store.update(() => undefined);
    expect(await onDisk()).toMatchObject({ future_key: { a: 1 } });
  });

  it("behind a link is replaced where it is, and the link stays", async () => {
    const real = join(dir, "real.json");
    await writeFile(real, JSON.stringify(UPSTREAM));
    await symlink(real, path);
    await (await open()).update((draft) => {
      draft.current_manifest_sha = "";
    });
    expect(JSON.parse(await readFile(real, "utf8"))).toMatchObject({ current_manifest_sha: "" });
  });

  it.each([
    ["empty", ""],
    ["cut off", JSON.stringify(UPSTREAM).slice(0, 200)],
    ["a list", "[]"],
    ["with a disk without a cid", JSON.stringify({ ...UPSTREAM, disks: [{ id: "d", cid: "", size: 1 }] })],
    [
      "with a size that is no number",
      JSON.stringify({ ...UPSTREAM, disks: [{ id: "d", cid: "d", size: "1" }] }),
    ],
    ["with a current disk that is not there", JSON.stringify({ ...UPSTREAM, disks: [] })],
    ["of a newer slipway", JSON.stringify({ ...UPSTREAM, slipway: { version: 2 } })],
  ])("that is %s is an error, and stays as it is", async (_, text) => {
    await writeFile(path, text);
    await expect(open()).rejects.toSatisfy(StateUnreadable.is);
    expect(await readFile(path, "utf8")).toBe(text);
  });
});

describe("the journal in it", () => {
  it("has an intent on disk before it is acted on, and its outcome with all it changes at once", async () => {
    const store = await withInstance();
    const number = store.newNumber();
    const intent = { taskId: 0, number, scope: "lab", instance: INSTANCE, step: "create_vm", version: 1 };
    await store.commit({ effects: NO_EFFECTS, events: [], open: { ...intent, intent: { requestId: "r" } } });
    expect(await (await open()).openIntents("lab")).toMatchObject([
      { number, step: "create_vm", intent: { requestId: "r" } },
    ]);
    // Whatever the deployment is called by now.
    expect(await (await open()).openIntents("renamed")).toHaveLength(1);

    await close(store, intent, (writes) => writes.addVm(VM));
    const again = await open();
    expect(await again.openIntents("lab")).toEqual([]);
    expect(again.document.current_vm_cid).toBe("vm-2");
    await close(store, intent, (writes) => writes.removeVm(VM.cid));
    expect((await open()).document.current_vm_cid).toBe("vm-2");
  });

  it("changes nothing, in memory or on disk, when one of several changes is refused", async () => {
    const store = await withInstance();
    const before = await readFile(path, "utf8");
    const refused = write(store, (writes) => {
      writes.addVm(VM);
      writes.updateDisk("nobody" as DiskCid, { size: 1 });
    });
    await expect(refused).rejects.toSatisfy(BadWrite.is);
    expect(await readFile(path, "utf8")).toBe(before);
    expect(store.instanceNow?.vms).toEqual([]);
  });

  it("keeps a create intent that the CPI refuses to settle, and notes a stray when the next run is refused too", async () => {
    const store = await withInstance();
    const call = { requestId: "cpi-lost", cpi: "", instance: INSTANCE, about: "lab/0" };
    const intent = { ...call, size: 64, cloudProperties: {}, vm: null };
    const key = { taskId: 0, number: store.newNumber(), scope: "lab", instance: INSTANCE };
    const begun = { ...key, step: "create_disk", version: 1, intent };
    await store.commit({ effects: NO_EFFECTS, events: [], open: begun });
    const refused = { method: "create_disk", type: "CloudError", errorName: undefined, okToRetry: false };
    const cloud = {
      info: () => Promise.resolve({ repeatable: true }),
      createDisk: () => Promise.reject(new CpiRefused({ ...refused, message: "away" })),
    };
    const run = async () => {
      const journal = await open();
      await settleOpenIntents({
        journal,
        deployment: "lab",
        signal: new AbortController().signal,
        debug: () => undefined,
        clouds: { cloud: () => cloud },
      } as unknown as FlowContext).catch((error: unknown) => error);
      const { intents, strays } = (await open()).document.slipway;
      return { intents: intents.map(({ step }) => step), strays: strays.map(({ requestId }) => requestId) };
    };
    expect(await run()).toEqual({ intents: ["create_disk"], strays: [] });
    expect(await (await open()).openIntents("lab")).toMatchObject([{ intent, settlingRefused: true }]);
    expect(await run()).toEqual({ intents: [], strays: ["cpi-lost"] });
  });

  it("forgets with a VM what was attached to it, and never a disk", async () => {
    const store = await withInstance();
    const disk = "disk-2" as DiskCid;
    await write(store, (writes) => {
      writes.addVm(VM);
      writes.addDisk({ cid: disk, size: 5, cloudProperties: {}, cpi: "", active: false });
      writes.switchDisk(disk);
      writes.updateDisk(disk, { attachedTo: VM.cid, hint: "/dev/sdb", mounted: true });
    });
    await write(store, (writes) => writes.removeVm(VM.cid));
    expect((await open()).instanceNow).toMatchObject({
      vms: [],
      disks: [{ cid: disk, active: true, attachedTo: null, hint: null, mounted: false }],
    });
    await expect(write(store, (writes) => writes.removeInstance())).rejects.toSatisfy(InstanceHolds.is);
    await write(store, (writes) => writes.orphanDisk(disk));
    expect((await open()).document).toMatchObject({
      disks: [{ cid: disk }],
      current_disk_id: "",
      slipway: { unusedDisks: [disk] },
    });
  });
});
