import type { DiskCid } from "../ids.ts";
import { kindOf } from "../schema/check.ts";
import { checkWithoutNulls } from "../schema/without-nulls.ts";
import { type DiskHint, parseDiskHint } from "../settings/disk-hint.ts";
import { type Disks, disks as disksSchema } from "../settings/disks.ts";
import type { ApiVersion } from "./api-version.ts";

export interface AttachedDisk {
  readonly dialect: "v1" | "shipped" | "draft-b";
  /** Undefined under version 1: the agent reads the registry. */
  readonly hint: DiskHint | undefined;
  /** Draft B: all disks of the VM, to be remembered instead of what was known. */
  readonly disks: Disks | undefined;
}

export type ParsedAttachDisk =
  | { readonly ok: true; readonly disk: AttachedDisk }
  | { readonly ok: false; readonly problem: string };

/** Reads what a CPI returned from attach_disk. Under version 1 the value means nothing and is not looked at. */
export function parseAttachDiskResult(
  value: unknown,
  given: { readonly apiVersion: ApiVersion; readonly diskCid: DiskCid },
): ParsedAttachDisk {
  if (given.apiVersion === 1) return { ok: true, disk: { dialect: "v1", hint: undefined, disks: undefined } };
  if (isEmpty(value)) return { ok: false, problem: `No disk_hint: attach_disk returned ${kindOf(value)}` };
  if (holdsAllDisks(value)) return fromAllDisks(value, given.diskCid);
  const parsed = parseDiskHint(value);
  return parsed.ok
    ? { ok: true, disk: { dialect: "shipped", hint: parsed.hint, disks: undefined } }
    : { ok: false, problem: `attach_disk returned no usable disk hint: ${parsed.problem}` };
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === "" ||
  (typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0);

/** Real hints never have a `persistent` object. */
function holdsAllDisks(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("persistent" in value)) return false;
  return typeof value.persistent === "object" && value.persistent !== null;
}

function fromAllDisks(value: unknown, cid: DiskCid): ParsedAttachDisk {
  const checked = checkWithoutNulls(disksSchema, value, "disks");
  if (!checked.ok)
    return {
      ok: false,
      problem: `attach_disk returned disks that do not fit: ${checked.problems.join("; ")}`,
    };
  const disks = checked.value;
  const own = disks.persistent ?? {};
  const parsed = Object.hasOwn(own, cid) ? parseDiskHint(own[cid]) : undefined;
  if (parsed === undefined)
    return { ok: false, problem: "No disk_hint: attach_disk returned disks without the one attached" };
  if (!parsed.ok)
    return { ok: false, problem: `attach_disk returned no usable disk hint: ${parsed.problem}` };
  return { ok: true, disk: { dialect: "draft-b", hint: parsed.hint, disks } };
}
