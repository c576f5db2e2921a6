import type { DiskCid } from "../ids.ts";
import { checkWithoutNulls } from "../schema/without-nulls.ts";
import { type Disks, disks as disksSchema } from "../settings/disks.ts";
import type { ApiVersion } from "./api-version.ts";
import type { Capabilities } from "./capabilities.ts";

export type ParsedDetachDisk =
  /** Undefined: the CPI says nothing of the other disks. */
  { readonly ok: true; readonly disks: Disks | undefined } | { readonly ok: false; readonly problem: string };

/** Reads what a CPI returned from detach_disk: all disks that are left, from one that announces draft B. */
export function parseDetachDiskResult(
  value: unknown,
  given: { readonly apiVersion: ApiVersion; readonly capabilities: Capabilities; readonly diskCid: DiskCid },
): ParsedDetachDisk {
  if (given.apiVersion < 2 || given.capabilities.detach_disk_returns_disks !== true)
    return { ok: true, disks: undefined };
  // Nothing, `true` or "" is what CPIs return that have nothing to say.
  if (typeof value !== "object" || value === null) return { ok: true, disks: undefined };
  const wanted = "detach_disk must return the disks that are left, as the CPI announces";
  const checked = checkWithoutNulls(disksSchema, value, "disks");
  if (!checked.ok) return { ok: false, problem: `${wanted}; ${checked.problems.join("; ")}` };
  if (Object.hasOwn(checked.value.persistent ?? {}, given.diskCid))
    return { ok: false, problem: `${wanted}; the one that was detached is still among them` };
  return { ok: true, disks: checked.value };
}
