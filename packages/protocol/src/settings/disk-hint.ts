import * as v from "valibot";
import { check, kindOf } from "../schema/check.ts";
import { type Json, type JsonObject, json, open, openWith, text } from "../schema/json.ts";
import { doc, hidden, secret } from "../schema/marks.ts";

const leaf = (name: string) => text(`hint key ${name}`);

export const iscsiSettings = open({
  initiator_name: v.string(),
  username: v.string(),
  target: v.string(),
  password: secret(v.string()),
});

/** The known keys of a hint object. Every value is a string: the upstream agent panics on a number. */
export const hintFields = openWith(
  {
    path: v.optional(doc(leaf("path"), "device path in the VM")),
    volume_id: v.optional(doc(leaf("volume_id"), "SCSI target number of the disk")),
    id: v.optional(doc(leaf("id"), "disk UUID as /dev/disk/by-id shows it")),
    lun: v.optional(doc(leaf("lun"), "SCSI logical unit number")),
    host_device_id: v.optional(doc(leaf("host_device_id"), "vmbus device that carries the LUN")),
    iscsi_settings: v.optional(doc(iscsiSettings, "where to log in, and as whom")),
    mounted: v.optional(
      doc(v.union([v.string(), v.boolean()]), "ours: the CPI mounts the disk at `path`, the agent binds it"),
    ),
  },
  hidden(json()),
);

const isNotEmpty = (value: unknown) =>
  typeof value !== "object" || value === null || Object.keys(value).length > 0;

/** The guard stands in front: behind it the schema library has dropped keys that look like a prototype. */
const notEmptyFields = v.pipe(
  v.custom<unknown>(isNotEmpty, "a disk hint must not be an empty object"),
  hintFields,
) as unknown as typeof hintFields;

/** A disk hint as it travels: a non-empty string, or a non-empty object. */
export const diskHintWire: v.GenericSchema<DiskHintWire> = v.union(
  [text("a disk hint"), notEmptyFields],
  "expected a disk hint: a non-empty string or object",
) as unknown as v.GenericSchema<DiskHintWire>;
export type DiskHintWire = string | JsonObject;

/** Fields of a hint of any kind. */
export interface HintFields {
  readonly path?: string;
  readonly volumeId?: string;
  readonly id?: string;
  readonly lun?: string;
  readonly hostDeviceId?: string;
  readonly iscsi?: IscsiSettings;
  /** Keys this version does not know, kept so that nothing is lost on the way through. */
  readonly extra?: JsonObject;
}

export interface IscsiSettings {
  readonly initiatorName: string;
  readonly username: string;
  readonly target: string;
  readonly password: string;
  readonly extra?: JsonObject;
}

/**
 * A disk hint, told apart by what identifies the disk. An object may carry more than its kind needs (Azure sends a
 * path beside lun and host_device_id); all of it is kept.
 */
export type DiskHint =
  | { readonly kind: "text"; readonly text: string }
  | (HintFields & { readonly kind: "iscsi"; readonly iscsi: IscsiSettings })
  | (HintFields & { readonly kind: "id"; readonly id: string })
  | (HintFields & { readonly kind: "volume_id"; readonly volumeId: string })
  | (HintFields & { readonly kind: "lun"; readonly lun: string })
  | (HintFields & { readonly kind: "path"; readonly path: string })
  | (HintFields & { readonly kind: "opaque"; readonly extra: JsonObject });

export type ParsedHint =
  | { readonly ok: true; readonly hint: DiskHint }
  | { readonly ok: false; readonly problem: string };

const KNOWN = ["path", "volume_id", "id", "lun", "host_device_id", "iscsi_settings"];
const KNOWN_ISCSI = ["initiator_name", "username", "target", "password"];

/** Returns the keys that this version does not know, if there are any. */
function unknownKeys(wire: object, known: readonly string[]): { readonly extra?: JsonObject } {
  const unknown = Object.entries(wire).filter(([key]) => !known.includes(key));
  return unknown.length === 0 ? {} : { extra: Object.fromEntries(unknown) as JsonObject };
}

/** Reads a hint as a CPI returned it or a settings document holds it. */
export function parseDiskHint(wire: unknown): ParsedHint {
  if (typeof wire === "string") {
    return wire.trim() === ""
      ? { ok: false, problem: "a disk hint must not be an empty string" }
      : { ok: true, hint: { kind: "text", text: wire } };
  }
  if (typeof wire !== "object" || wire === null || Array.isArray(wire)) {
    return { ok: false, problem: `a disk hint is a string or an object, got ${kindOf(wire)}` };
  }
  if (Object.keys(wire).length === 0)
    return { ok: false, problem: "a disk hint must not be an empty object" };
  const checked = check(hintFields, wire, "hint");
  if (!checked.ok) return { ok: false, problem: checked.problems.join("; ") };
  return { ok: true, hint: fromFields(checked.value) };
}

function fromFields(wire: v.InferOutput<typeof hintFields>): DiskHint {
  const iscsi = wire.iscsi_settings;
  const fields: HintFields = {
    ...(wire.path !== undefined && { path: wire.path }),
    ...(wire.volume_id !== undefined && { volumeId: wire.volume_id }),
    ...(wire.id !== undefined && { id: wire.id }),
    ...(wire.lun !== undefined && { lun: wire.lun }),
    ...(wire.host_device_id !== undefined && { hostDeviceId: wire.host_device_id }),
    ...(iscsi !== undefined && {
      iscsi: {
        initiatorName: iscsi.initiator_name,
        username: iscsi.username,
        target: iscsi.target,
        password: iscsi.password,
        ...unknownKeys(iscsi, KNOWN_ISCSI),
      },
    }),
    ...unknownKeys(wire, KNOWN),
  };
  return hintOf(fields) ?? { ...fields, kind: "opaque", extra: fields.extra ?? {} };
}

/** Upstream's order of trust: what names the disk itself before what names a place. Undefined: nothing names it. */
export function hintOf(fields: HintFields): DiskHint | undefined {
  if (fields.iscsi !== undefined) return { ...fields, kind: "iscsi", iscsi: fields.iscsi };
  if (fields.id !== undefined) return { ...fields, kind: "id", id: fields.id };
  if (fields.volumeId !== undefined) return { ...fields, kind: "volume_id", volumeId: fields.volumeId };
  if (fields.lun !== undefined) return { ...fields, kind: "lun", lun: fields.lun };
  if (fields.path !== undefined) return { ...fields, kind: "path", path: fields.path };
  return undefined;
}

/** Writes a hint as it came in. */
export function formatDiskHint(hint: DiskHint): DiskHintWire {
  if (hint.kind === "text") return hint.text;
  const wire: Record<string, Json> = {};
  if (hint.path !== undefined) wire.path = hint.path;
  if (hint.volumeId !== undefined) wire.volume_id = hint.volumeId;
  if (hint.id !== undefined) wire.id = hint.id;
  if (hint.lun !== undefined) wire.lun = hint.lun;
  if (hint.hostDeviceId !== undefined) wire.host_device_id = hint.hostDeviceId;
  if (hint.iscsi !== undefined) {
    wire.iscsi_settings = {
      initiator_name: hint.iscsi.initiatorName,
      username: hint.iscsi.username,
      target: hint.iscsi.target,
      password: hint.iscsi.password,
      ...hint.iscsi.extra,
    };
  }
  return { ...wire, ...hint.extra };
}
