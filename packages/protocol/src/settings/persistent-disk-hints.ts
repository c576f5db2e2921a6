import * as v from "valibot";
import type { DiskCid } from "../ids.ts";
import { check } from "../schema/check.ts";
import { mapOf, open, text } from "../schema/json.ts";
import { secret } from "../schema/marks.ts";
import { type DiskHint, hintOf } from "./disk-hint.ts";

const goIscsi = open({
  InitiatorName: v.string(),
  Username: v.string(),
  Target: v.string(),
  Password: secret(v.string()),
});

/** One disk in `persistent_disk_hints.json`, with the field names the upstream agent writes. */
export const storedDiskHint = open({
  ID: text("ID"),
  DeviceID: v.string(),
  VolumeID: v.string(),
  Lun: v.string(),
  HostDeviceID: v.string(),
  Path: v.string(),
  ISCSISettings: goIscsi,
  FileSystemType: v.string(),
  MountOptions: v.nullable(v.array(v.string())),
  Partitioner: v.string(),
});
export type StoredDiskHint = v.InferOutput<typeof storedDiskHint>;

/** `persistent_disk_hints.json`: disk cid to hint, as the upstream agent stores it. */
export const persistentDiskHints = mapOf(storedDiskHint);
export type PersistentDiskHints = Readonly<Record<string, StoredDiskHint>>;

export interface MountSettings {
  readonly fileSystem?: string;
  readonly mountOptions?: readonly string[] | null;
  readonly partitioner?: string;
}

/** A string hint is both a path and a volume id: the agent decides by its resolution type which one it uses. */
export function storeHint(cid: DiskCid, hint: DiskHint, mount: MountSettings = {}): StoredDiskHint {
  const fields = hint.kind === "text" ? { path: hint.text, volumeId: hint.text } : hint;
  const iscsi = hint.kind === "text" ? undefined : hint.iscsi;
  return {
    ID: cid,
    DeviceID: ("id" in fields ? fields.id : undefined) ?? "",
    VolumeID: fields.volumeId ?? "",
    Lun: ("lun" in fields ? fields.lun : undefined) ?? "",
    HostDeviceID: ("hostDeviceId" in fields ? fields.hostDeviceId : undefined) ?? "",
    Path: fields.path ?? "",
    ISCSISettings: {
      InitiatorName: iscsi?.initiatorName ?? "",
      Username: iscsi?.username ?? "",
      Target: iscsi?.target ?? "",
      Password: iscsi?.password ?? "",
    },
    FileSystemType: mount.fileSystem ?? "",
    MountOptions: mount.mountOptions == null ? null : [...mount.mountOptions],
    Partitioner: mount.partitioner ?? "",
  };
}

/** The hint a stored entry stands for; undefined when the entry identifies nothing. */
export function hintFromStored(stored: StoredDiskHint): DiskHint | undefined {
  const iscsi = stored.ISCSISettings;
  const fields = {
    ...(stored.Path !== "" && { path: stored.Path }),
    ...(stored.VolumeID !== "" && { volumeId: stored.VolumeID }),
    ...(stored.DeviceID !== "" && { id: stored.DeviceID }),
    ...(stored.Lun !== "" && { lun: stored.Lun }),
    ...(stored.HostDeviceID !== "" && { hostDeviceId: stored.HostDeviceID }),
    ...(iscsi.Target !== "" && {
      iscsi: {
        initiatorName: iscsi.InitiatorName,
        username: iscsi.Username,
        target: iscsi.Target,
        password: iscsi.Password,
      },
    }),
  };
  const { path, volumeId } = fields;
  const fromText = path !== undefined && path === volumeId && Object.keys(fields).length === 2;
  if (fromText) return { kind: "text", text: path };
  return hintOf(fields);
}

export const checkPersistentDiskHints = (value: unknown) =>
  check(persistentDiskHints, value, "persistent_disk_hints.json");
