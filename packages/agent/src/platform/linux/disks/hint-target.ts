import type { DiskHint, IscsiSettings } from "@slipway/protocol/settings/disk-hint";
import type { DeviceNumber } from "./device-nodes.ts";

/** Everything a hint says about where a disk is and how it can be told from others. */
export interface DiskIdentity {
  /** Empty for disks without one (ephemeral, raw). */
  readonly cid: string;
  readonly path?: string;
  readonly volumeId?: string;
  readonly id?: string;
  readonly lun?: string;
  readonly hostDeviceId?: string;
  readonly iscsi?: IscsiSettings;
  /** Keys of ours; upstream's agent ignores them. */
  readonly dev?: DeviceNumber;
  readonly serial?: string;
  readonly wwn?: string;
  readonly scsiAddress?: string;
}

export function targetOf(cid: string, hint: DiskHint): DiskIdentity {
  // Upstream reads a bare string as both.
  if (hint.kind === "text") return { cid, path: hint.text, volumeId: hint.text };
  const extra = (key: string): string | undefined => {
    const value = hint.extra?.[key];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const [dev, serial, wwn, scsiAddress] = ["dev", "serial", "wwn", "scsi_address"].map(extra);
  return {
    cid,
    ...(hint.path !== undefined && { path: hint.path }),
    ...(hint.volumeId !== undefined && { volumeId: hint.volumeId }),
    ...(hint.id !== undefined && { id: hint.id }),
    ...(hint.lun !== undefined && { lun: hint.lun }),
    ...(hint.hostDeviceId !== undefined && { hostDeviceId: hint.hostDeviceId }),
    ...(hint.iscsi !== undefined && { iscsi: hint.iscsi }),
    ...(dev !== undefined && { dev }),
    ...(serial !== undefined && { serial }),
    ...(wwn !== undefined && { wwn }),
    ...(scsiAddress !== undefined && { scsiAddress }),
  };
}

/** Returns the name of a disk for messages. Never the whole hint, which may hold a password. */
export const nameOf = (target: DiskIdentity): string =>
  target.cid || target.path || target.id || target.serial || target.volumeId || "without a name";
