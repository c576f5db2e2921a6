import { access, copyFile, mkdir, readdir, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineCpi } from "@slipway/cpi-sdk/cpi";
import { cloudError, diskNotAttached, diskNotFound, notSupported, vmNotFound } from "@slipway/cpi-sdk/errors";
import * as v from "valibot";

/** A whole CPI. The cloud is a directory: a VM is a folder with the user-data of its agent, a disk is a file. */

type Cloud = { readonly dir: string };
type Kind = "stemcells" | "vms" | "disks" | "snapshots";
const MIB = 1024 * 1024;

const safe = (cid: string) => cid.replace(/[^\w-]/g, "_");
const place = (cloud: Cloud, kind: Kind, cid: string) => join(cloud.dir, kind, safe(cid));
const slot = (vmPath: string, diskCid: string) => join(vmPath, "disks", safe(diskCid));
const exists = async (path: string) => (await access(path).catch(() => "no")) !== "no";
const list = (path: string): Promise<string[]> => readdir(path).catch(() => []);

/** Made under another name and renamed when whole. The token makes a repeat find what a killed call has made. */
async function make(
  cloud: Cloud,
  kind: Kind,
  cid: string,
  fill: (path: string) => Promise<void>,
): Promise<string> {
  const path = place(cloud, kind, cid);
  if (await exists(path)) return cid;
  await mkdir(join(cloud.dir, kind), { recursive: true });
  try {
    await fill(`${path}.partial`);
    await rename(`${path}.partial`, path);
  } finally {
    await rm(`${path}.partial`, { recursive: true, force: true });
  }
  return cid;
}

async function found(path: string, missing: Error): Promise<string> {
  if (!(await exists(path))) throw missing;
  return path;
}
const vm = (cloud: Cloud, cid: string) => found(place(cloud, "vms", cid), vmNotFound(cid));
const disk = (cloud: Cloud, cid: string) => found(place(cloud, "disks", cid), diskNotFound(cid));

async function holderOf(cloud: Cloud, cid: string): Promise<string | undefined> {
  for (const name of await list(join(cloud.dir, "vms"))) {
    if (await exists(slot(join(cloud.dir, "vms", name), cid))) return name;
  }
  return undefined;
}

async function freeDisk(cloud: Cloud, cid: string): Promise<string> {
  const path = await disk(cloud, cid);
  const holder = await holderOf(cloud, cid);
  if (holder !== undefined) throw cloudError(`disk '${cid}' is attached to '${holder}'`);
  return path;
}

export const tinyCpi = defineCpi({
  name: "tiny",
  stemcellFormats: ["tiny-tar", "general-tar"],
  config: v.object({ dir: v.pipe(v.string(), v.nonEmpty("name a directory")) }),
  stateDir: ({ dir }) => join(dir, "sdk"),
  methods: {
    createStemcell: ({ imagePath }, { config, token }) =>
      make(config, "stemcells", `stemcell-${token}`, (path) => copyFile(imagePath, path)),
    deleteStemcell: ({ stemcellCid }, { config }) =>
      rm(place(config, "stemcells", stemcellCid), { force: true }),

    createVm: async ({ agentId, stemcellCid, networks }, { config, token, userData, log }) => {
      if (!(await exists(place(config, "stemcells", stemcellCid))))
        throw cloudError(`no stemcell '${stemcellCid}'`);
      const cid = `vm-${token}`;
      const disks = { system: "/dev/sda" };
      const text = userData({ networks, disks, name: cid, serverName: cid });
      await make(config, "vms", cid, async (path) => {
        await mkdir(join(path, "disks"), { recursive: true });
        await writeFile(join(path, "user-data.json"), text, { mode: 0o600 });
      });
      log.info(`VM ${cid} runs agent ${agentId}`);
      return { cid };
    },
    deleteVm: async ({ vmCid }, { config }) => rm(await vm(config, vmCid), { recursive: true }),
    hasVm: ({ vmCid }, { config }) => exists(place(config, "vms", vmCid)),
    setVmMetadata: async ({ vmCid, metadata }, { config }) =>
      writeFile(join(await vm(config, vmCid), "metadata.json"), JSON.stringify(metadata)),

    createDisk: ({ size }, { config, token }) =>
      make(config, "disks", `disk-${token}`, async (path) => {
        await writeFile(path, "");
        await truncate(path, size * MIB);
      }),
    deleteDisk: async ({ diskCid }, { config }) => rm(await freeDisk(config, diskCid)),
    hasDisk: ({ diskCid }, { config }) => exists(place(config, "disks", diskCid)),
    attachDisk: async ({ vmCid, diskCid }, { config }) => {
      const path = await vm(config, vmCid);
      if (!(await exists(slot(path, diskCid)))) await freeDisk(config, diskCid);
      await writeFile(slot(path, diskCid), "");
      return { id: diskCid };
    },
    detachDisk: async ({ vmCid, diskCid }, { config }) => {
      const attached = slot(await vm(config, vmCid), diskCid);
      if (!(await exists(attached))) await disk(config, diskCid);
      await rm(await found(attached, diskNotAttached(vmCid, diskCid)));
    },
    getDisks: async ({ vmCid }, { config }) => list(join(await vm(config, vmCid), "disks")),
    resizeDisk: async ({ diskCid, newSize }, { config }) => {
      const path = await freeDisk(config, diskCid);
      if (newSize * MIB < (await stat(path)).size) throw notSupported("a disk cannot become smaller");
      await truncate(path, newSize * MIB);
    },
    snapshotDisk: async ({ diskCid }, { config, token }) => {
      const source = await disk(config, diskCid);
      return make(config, "snapshots", `snapshot-${token}`, (path) => copyFile(source, path));
    },
    deleteSnapshot: ({ snapshotCid }, { config }) =>
      rm(place(config, "snapshots", snapshotCid), { force: true }),
  },
});
