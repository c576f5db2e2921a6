import { join } from "node:path";
import { type Cpi, defineCpi } from "@slipway/cpi-sdk/cpi";
import { cloudError, diskNotAttached, notSupported } from "@slipway/cpi-sdk/errors";
import * as v from "valibot";
import { Disks } from "./disks.ts";
import { checkNetworks } from "./networks.ts";
import { Stemcells } from "./stemcells.ts";
import { Vms } from "./vms.ts";

const text = (what: string) => v.pipe(v.string(), v.nonEmpty(what));

const config = v.object({
  dir: text("name a directory for VMs, disks and stemcells"),
  agent: text("name the file of the agent's bundle, slipway-agent.cjs"),
});

/**
 * VMs as processes of this host: each an agent with mounts of its own, reached on a loopback address. Disks are
 * directories. Nothing to install, no root.
 */
export const cpiLocal: Cpi = defineCpi({
  name: "local",
  stemcellFormats: ["general-tar", "general-light", "slipway-local"],
  config,
  stateDir: ({ dir }) => join(dir, "sdk"),
  methods: {
    createStemcell: ({ imagePath }, { config, token }) =>
      new Stemcells(config.dir).create(`stemcell-${token}`, imagePath),
    deleteStemcell: ({ stemcellCid }, { config }) => new Stemcells(config.dir).remove(stemcellCid),

    createVm: async ({ stemcellCid, networks }, { config, token, userData, log, cleanup }) => {
      if (!(await new Stemcells(config.dir).has(stemcellCid)))
        throw cloudError(`no stemcell '${stemcellCid}'`);
      const given = checkNetworks(networks);
      const vms = new Vms(config);
      const cid = `vm-${token}`;
      cleanup(() => vms.remove(cid));
      await vms.create(cid, userData({ networks: given, disks: { system: "" }, name: cid, serverName: cid }));
      log.info(`VM ${cid} is process ${await vms.start(cid)}`);
      return { cid, networks: given };
    },
    deleteVm: async ({ vmCid }, { config }) => {
      const vms = new Vms(config);
      await vms.must(vmCid);
      await vms.remove(vmCid);
    },
    hasVm: ({ vmCid }, { config }) => new Vms(config).has(vmCid),
    rebootVm: async ({ vmCid }, { config }) => {
      const vms = new Vms(config);
      await vms.must(vmCid);
      await vms.stop(vmCid);
      await vms.start(vmCid);
    },
    setVmMetadata: ({ vmCid, metadata }, { config }) => new Vms(config).describe(vmCid, metadata),

    createDisk: ({ size }, { config, token }) => new Disks(config.dir).create(`disk-${token}`, size),
    deleteDisk: async ({ diskCid }, { config }) => {
      await mustBeFree(config, diskCid);
      await new Disks(config.dir).remove(diskCid);
    },
    hasDisk: ({ diskCid }, { config }) => new Disks(config.dir).has(diskCid),
    attachDisk: async ({ vmCid, diskCid }, { config }) => {
      const vms = new Vms(config);
      const disks = new Disks(config.dir);
      await vms.must(vmCid);
      await disks.must(diskCid);
      const holder = await vms.holderOf(diskCid);
      if (holder !== undefined && holder !== vmCid)
        throw cloudError(`disk '${diskCid}' is attached to '${holder}'`);
      await vms.attach(vmCid, diskCid);
      return { path: disks.content(diskCid) };
    },
    detachDisk: async ({ vmCid, diskCid }, { config }) => {
      const vms = new Vms(config);
      await vms.must(vmCid);
      if ((await vms.holderOf(diskCid)) !== vmCid) {
        await new Disks(config.dir).must(diskCid);
        throw diskNotAttached(vmCid, diskCid);
      }
      await vms.detach(vmCid, diskCid);
    },
    getDisks: ({ vmCid }, { config }) => new Vms(config).disksOf(vmCid),
    setDiskMetadata: async ({ diskCid }, { config }) => new Disks(config.dir).must(diskCid),
    resizeDisk: async ({ diskCid, newSize }, { config }) => {
      await mustBeFree(config, diskCid);
      if (newSize < (await new Disks(config.dir).size(diskCid)))
        throw notSupported("a disk cannot become smaller");
      await new Disks(config.dir).resize(diskCid, newSize);
    },
  },
});

async function mustBeFree(
  given: { readonly dir: string; readonly agent: string },
  cid: string,
): Promise<void> {
  await new Disks(given.dir).must(cid);
  const holder = await new Vms(given).holderOf(cid);
  if (holder !== undefined) throw cloudError(`disk '${cid}' is attached to '${holder}'`);
}
