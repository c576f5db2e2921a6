import { parseStrictJson } from "@slipway/kernel/strict-json";
import { agentId, diskCid, requestId, stemcellCid, vmCid } from "@slipway/protocol/ids";
import { check } from "@slipway/protocol/schema/check";
import { integer, jsonObject, open, text } from "@slipway/protocol/schema/json";
import { doc, secret } from "@slipway/protocol/schema/marks";
import { diskHintWire } from "@slipway/protocol/settings/disk-hint";
import { disks as vmDisks } from "@slipway/protocol/settings/disks";
import { networks } from "@slipway/protocol/settings/networks";
import * as v from "valibot";
import { StateUnreadable } from "../errors.ts";

/** The state file: upstream's keys, and ours under `slipway`, which upstream neither reads nor keeps. */

const listOf = <const S extends v.GenericSchema>(item: S) => v.optional(v.nullable(v.array(item)), null);
const optionalText = v.optional(v.string(), "");

const diskEntry = open({
  id: text("a disk's id"),
  cid: diskCid,
  size: integer(0, "a disk's size"),
  cloud_properties: v.optional(v.nullable(jsonObject())),
});

const stemcellEntry = open({
  id: text("a stemcell's id"),
  name: text("a stemcell's name"),
  version: text("a stemcell's version"),
  api_version: v.optional(integer(0, "api_version")),
  cid: stemcellCid,
});

const releaseEntry = open({ id: text("a release's id"), name: v.string(), version: v.string() });

const vmRecord = open({
  id: integer(1),
  cid: vmCid,
  agentId,
  active: v.boolean(),
  cpi: v.string(),
  createdAt: v.number(),
  stemcell: open({ name: v.string(), version: v.string(), apiVersion: integer(1) }),
  apiVersion: v.picklist([1, 2, 3]),
  channel: v.picklist(["user-data", "registry"]),
  env: secret(jsonObject()),
  cloudProperties: jsonObject(),
  networks,
  disks: vmDisks,
  agentUrl: v.string(),
  certificateUntil: v.nullable(v.number()),
  ready: v.boolean(),
});

const diskRecord = open({
  id: integer(1),
  cid: diskCid,
  size: integer(0),
  cloudProperties: jsonObject(),
  cpi: v.string(),
  active: v.boolean(),
  attachedTo: v.nullable(vmCid),
  hint: v.nullable(diskHintWire),
  mounted: v.boolean(),
  createdAt: v.optional(v.number()),
});

const instanceRecord = open({
  group: text("a group's name"),
  updateCompleted: v.boolean(),
  spec: v.nullable(jsonObject()),
  vms: v.array(vmRecord),
  disks: v.array(diskRecord),
});

const intentRecord = open({
  id: integer(1),
  instance: v.nullable(v.string()),
  scope: v.string(),
  step: text("a step"),
  version: v.optional(integer(1), 1),
  intent: secret(jsonObject()),
  settlingRefused: v.optional(doc(v.literal(true), "the CPI refused once to settle it")),
});

const stray = open({
  kind: v.picklist(["vm", "disk", "stemcell", "snapshot", "network"]),
  cpi: v.string(),
  requestId,
  about: v.string(),
  why: v.string(),
  addresses: v.optional(v.array(v.string()), []),
});

const attempt = open({
  digest: text("a digest"),
  firstId: doc(integer(1), "VMs and disks from this number on were made by it"),
  recreate: v.boolean(),
  renewDisks: v.boolean(),
});

const own = open({
  version: v.literal(1, "another version of slipway wrote this section; use that one"),
  nextId: integer(1),
  instance: v.nullable(instanceRecord),
  intents: v.array(intentRecord),
  unusedDisks: doc(v.array(diskCid), "disks that no longer belong to an instance, to be deleted"),
  strays: v.array(stray),
  attempt: v.nullable(attempt),
});

const UPSTREAM = {
  director_id: optionalText,
  installation_id: optionalText,
  current_vm_cid: optionalText,
  current_stemcell_id: optionalText,
  current_disk_id: optionalText,
  current_release_ids: listOf(v.string()),
  current_manifest_sha: optionalText,
  disks: listOf(diskEntry),
  stemcells: listOf(stemcellEntry),
  releases: listOf(releaseEntry),
} as const;

/** Schema of the state file. */
export const stateDocument = open({ ...UPSTREAM, slipway: v.optional(own) });

export type DiskEntry = v.InferOutput<typeof diskEntry>;
export type StemcellEntry = v.InferOutput<typeof stemcellEntry>;
export type Own = v.InferOutput<typeof own>;
export type OwnInstance = v.InferOutput<typeof instanceRecord>;
export type Upstream = v.InferOutput<v.ObjectSchema<typeof UPSTREAM, undefined>>;

/** In memory `slipway` is always there. Keys of others are kept. */
export interface StateDocument extends Upstream {
  slipway: Own;
}

const KEYS = Object.keys(UPSTREAM) as readonly (keyof Upstream)[];

export const newOwn = (): Own => ({
  version: 1,
  nextId: 1,
  instance: null,
  intents: [],
  unusedDisks: [],
  strays: [],
  attempt: null,
});

export function readState(source: string, path: string): Upstream & { readonly slipway?: Own | undefined } {
  let value: unknown;
  try {
    value = parseStrictJson(source, path);
  } catch (cause) {
    throw StateUnreadable({ path, problems: ["it is not JSON, or damaged"] }, { cause });
  }
  const checked = check(stateDocument, value);
  if (!checked.ok) throw StateUnreadable({ path, problems: checked.problems });
  // With the defaults, which `check` leaves out.
  const read = v.parse(stateDocument, value);
  const { current_disk_id: disk } = read;
  if (disk !== "" && read.disks?.some(({ id }) => id === disk) !== true)
    throw StateUnreadable({ path, problems: ["current_disk_id names none of its disks"] });
  return read;
}

/** Formats the file as upstream does: four blanks, no newline at the end. */
export function formatState(document: StateDocument): string {
  const { slipway, ...rest } = document;
  const known = Object.fromEntries(KEYS.map((key) => [key, document[key]]));
  return JSON.stringify({ ...known, ...withoutKnown(rest), slipway }, null, 4);
}

const withoutKnown = (rest: object) =>
  Object.fromEntries(Object.entries(rest).filter(([key]) => !KEYS.some((known) => known === key)));
