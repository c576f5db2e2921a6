import type { Random } from "@slipway/kernel/random";
import type { AgentId, VmCid } from "@slipway/protocol/ids";
import {
  type DiskEntry,
  newOwn,
  type Own,
  type OwnInstance,
  type StateDocument,
  type Upstream,
} from "./document.ts";

/** Agent id of a VM that another program made: it is reached by its address, and its id is unknown. */
const UNKNOWN_AGENT = "unknown" as AgentId;

type OwnVm = OwnInstance["vms"][number];
type OwnDisk = OwnInstance["disks"][number];

/**
 * Brings our records in line with upstream's keys, which count: the Go CLI writes the file without our section, and
 * operators edit the keys they know. What both agree on keeps all we know of it.
 */
export function reconciled(
  read: Upstream & { readonly slipway?: Own | undefined },
  random: Random,
): StateDocument {
  const own = structuredClone(read.slipway ?? newOwn());
  const document: StateDocument = {
    ...structuredClone(read),
    director_id: read.director_id || random.uuid(),
    installation_id: read.installation_id || random.uuid(),
    slipway: own,
  };
  const known = own.instance;
  const vms = vmsOf(document, known);
  const disks = disksOf(document, known, vms);
  if (known === null && vms.length === 0 && disks.length === 0) return document;
  own.instance = {
    group: known?.group ?? "unknown",
    updateCompleted: false,
    spec: null,
    ...known,
    vms,
    disks,
  };
  return document;
}

function vmsOf(document: StateDocument, known: OwnInstance | null): OwnVm[] {
  const cid = document.current_vm_cid;
  if (cid === "") return [];
  const found = known?.vms.some((vm) => vm.cid === cid) === true;
  return found ? known.vms : [foreignVm(document, cid as VmCid)];
}

function foreignVm(document: StateDocument, cid: VmCid): OwnVm {
  const entry = document.stemcells?.find(({ id }) => id === document.current_stemcell_id);
  // Upstream's CLI has no registry any more; what it leaves out is 0 and means a stemcell of before versions.
  const apiVersion = Math.max(1, entry?.api_version ?? 1);
  return {
    id: takeId(document.slipway),
    cid,
    agentId: UNKNOWN_AGENT,
    active: true,
    cpi: "",
    createdAt: 0,
    stemcell: { name: entry?.name ?? "unknown", version: entry?.version ?? "unknown", apiVersion },
    apiVersion: 2,
    channel: apiVersion >= 2 ? "user-data" : "registry",
    env: {},
    cloudProperties: {},
    networks: {},
    disks: {},
    agentUrl: "",
    certificateUntil: null,
    ready: true,
  };
}

/**
 * Keeps the history of disks that this program has seen. A disk that became current without it may be an older one, and
 * nothing is ever copied onto it. As upstream, it is deleted in the end.
 */
function disksOf(document: StateDocument, known: OwnInstance | null, vms: readonly OwnVm[]): OwnDisk[] {
  const own = document.slipway;
  const entries = document.disks ?? [];
  const current = entries.find(({ id }) => id === document.current_disk_id);
  const before = known?.disks.find(({ active }) => active)?.cid;
  const asWeLeftIt = known !== null && before === current?.cid;
  const kept = entries.flatMap((entry): OwnDisk[] => {
    const ours = known?.disks.find(({ cid }) => cid === entry.cid);
    if (entry === current) return [{ ...(ours ?? foreignDisk(document, entry, vms)), active: true }];
    return asWeLeftIt && ours !== undefined ? [ours] : [];
  });
  own.unusedDisks = entries.map(({ cid }) => cid).filter((cid) => !kept.some((disk) => disk.cid === cid));
  return kept;
}

function foreignDisk(document: StateDocument, entry: DiskEntry, vms: readonly OwnVm[]): OwnDisk {
  const vm = vms.find(({ active }) => active);
  const inUse = entry.id === document.current_disk_id && vm !== undefined;
  return {
    id: takeId(document.slipway),
    cid: entry.cid,
    size: entry.size,
    cloudProperties: entry.cloud_properties ?? {},
    cpi: "",
    active: false,
    attachedTo: inUse ? vm.cid : null,
    hint: null,
    mounted: inUse,
  };
}

/** Returns the next number. VMs, disks and intents share the numbers, and each is used once. */
export function takeId(own: Own): number {
  own.nextId += 1;
  return own.nextId - 1;
}
