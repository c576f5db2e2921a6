import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineCpi } from "@slipway/cpi-sdk/cpi";
import {
  cloudError,
  diskNotAttached,
  diskNotFound,
  stemcellNotFound,
  vmNotFound,
} from "@slipway/cpi-sdk/errors";
import * as v from "valibot";
import { endVm, exists, startVm } from "./vm.ts";

/** The cloud is a directory. A VM is a process of this machine that runs an agent, a disk is a directory. */
const config = v.object({
  dir: v.pipe(v.string(), v.nonEmpty("name the directory of the cloud")),
  agent: v.pipe(v.string(), v.nonEmpty("name the agent's file, slipway-agent.cjs")),
});
type Config = v.InferOutput<typeof config>;
type Kind = "stemcells" | "vms" | "disks";

const place = ({ dir }: Config, kind: Kind, cid: string) => join(dir, kind, cid.replace(/[^\w-]/g, "_"));
const slot = (vm: string, diskCid: string) => join(vm, "disks", diskCid.replace(/[^\w-]/g, "_"));

async function found(path: string, missing: Error): Promise<string> {
  if (!(await exists(path))) throw missing;
  return path;
}
const vm = (cloud: Config, cid: string) => found(place(cloud, "vms", cid), vmNotFound(cid));
const disk = (cloud: Config, cid: string) => found(place(cloud, "disks", cid), diskNotFound(cid));

/** Made under another name and renamed when whole: a call may be killed at any moment. */
async function make(path: string, fill: (partial: string) => Promise<unknown>): Promise<void> {
  if (await exists(path)) return;
  const partial = `${path}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await fill(partial);
  await rename(partial, path);
}

async function holderOf(cloud: Config, diskCid: string): Promise<string | undefined> {
  const vms = await readdir(join(cloud.dir, "vms")).catch(() => []);
  for (const name of vms) if (await exists(slot(join(cloud.dir, "vms", name), diskCid))) return name;
  return undefined;
}

export const myCpi = defineCpi({
  name: "mycloud",
  stemcellFormats: ["slipway-local", "general-tar"],
  config,
  stateDir: ({ dir }) => join(dir, "sdk"),
  methods: {
    createStemcell: async ({ cloudProperties }, { config: cloud, token }) => {
      const cid = `stemcell-${token}`;
      await make(place(cloud, "stemcells", cid), (path) =>
        writeFile(join(path, "properties.json"), JSON.stringify(cloudProperties)),
      );
      return cid;
    },
    deleteStemcell: ({ stemcellCid }, { config: cloud }) =>
      rm(place(cloud, "stemcells", stemcellCid), { recursive: true, force: true }),

    createVm: async ({ stemcellCid, networks }, { config: cloud, token, userData, cleanup, log }) => {
      await found(place(cloud, "stemcells", stemcellCid), stemcellNotFound(stemcellCid));
      // A repeat of this request has the same token, so it finds what the first one made.
      const cid = `vm-${token}`;
      const path = place(cloud, "vms", cid);
      const settings = userData({ networks, name: cid });
      await make(path, async (partial) => {
        await mkdir(join(partial, "disks"));
        await writeFile(join(partial, "user-data.json"), settings, { mode: 0o600 });
      });
      cleanup(async () => {
        await endVm(path);
        await rm(path, { recursive: true, force: true });
      });
      log.info(`VM ${cid} is process ${await startVm(path, cloud.agent)}`);
      return { cid };
    },
    deleteVm: async ({ vmCid }, { config: cloud }) => {
      const path = await vm(cloud, vmCid);
      await endVm(path);
      await rm(path, { recursive: true });
    },
    hasVm: ({ vmCid }, { config: cloud }) => exists(place(cloud, "vms", vmCid)),

    createDisk: async ({ size }, { config: cloud, token }) => {
      const cid = `disk-${token}`;
      await make(place(cloud, "disks", cid), async (path) => {
        await mkdir(join(path, "content"));
        await writeFile(join(path, "size"), `${size}\n`);
      });
      return cid;
    },
    deleteDisk: async ({ diskCid }, { config: cloud }) => {
      const path = await disk(cloud, diskCid);
      const holder = await holderOf(cloud, diskCid);
      if (holder !== undefined) throw cloudError(`disk '${diskCid}' is attached to '${holder}'`);
      await rm(path, { recursive: true });
    },
    hasDisk: ({ diskCid }, { config: cloud }) => exists(place(cloud, "disks", diskCid)),
    attachDisk: async ({ vmCid, diskCid }, { config: cloud }) => {
      const to = await vm(cloud, vmCid);
      const path = await disk(cloud, diskCid);
      const holder = await holderOf(cloud, diskCid);
      if (holder !== undefined && join(cloud.dir, "vms", holder) !== to)
        throw cloudError(`disk '${diskCid}' is attached to '${holder}'`);
      await writeFile(slot(to, diskCid), "");
      // The hint: where the agent of this VM finds the disk.
      return { path: join(path, "content") };
    },
    detachDisk: async ({ vmCid, diskCid }, { config: cloud }) => {
      const attached = slot(await vm(cloud, vmCid), diskCid);
      await disk(cloud, diskCid);
      await rm(await found(attached, diskNotAttached(vmCid, diskCid)));
    },
    getDisks: async ({ vmCid }, { config: cloud }) => readdir(join(await vm(cloud, vmCid), "disks")),
  },
});
