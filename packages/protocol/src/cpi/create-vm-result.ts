import { type VmCid, vmCid } from "../ids.ts";
import { kindOf, matches } from "../schema/check.ts";
import { checkWithoutNulls } from "../schema/without-nulls.ts";
import { DISKS_KEYS, type Disks, disks as disksSchema } from "../settings/disks.ts";
import type { Networks } from "../settings/networks.ts";
import { networks as networksSchema } from "../settings/networks.ts";
import type { ApiVersion } from "./api-version.ts";

/** Dialect of the contract that a result is written in. */
export type Dialect = "v1" | "shipped" | "draft-a" | "draft-b" | "2018-object";

export interface CreatedVm {
  readonly dialect: Dialect;
  readonly cid: VmCid;
  /** Undefined when the dialect does not say. */
  readonly networks: Networks | undefined;
  readonly disks: Disks | undefined;
}

export type ParsedCreateVm =
  | { readonly ok: true; readonly vm: CreatedVm }
  | { readonly ok: false; readonly problem: string };

const refuse = (problem: string): ParsedCreateVm => ({ ok: false, problem });

/**
 * Reads what a CPI returned from create_vm, in any dialect, by what it holds. Strict: a string is the cid under
 * version 1 only and is never indexed; an empty cid never passes.
 */
export function parseCreateVmResult(
  value: unknown,
  given: { readonly apiVersion: ApiVersion; readonly networks?: Networks | undefined },
): ParsedCreateVm {
  if (given.apiVersion === 1) {
    return matches(vmCid, value)
      ? { ok: true, vm: { dialect: "v1", cid: value, networks: undefined, disks: undefined } }
      : refuse(
          `create_vm under api_version 1 must return the VM cid as a non-empty string, got ${cidKind(value)}`,
        );
  }
  const wanted = `create_vm under api_version ${given.apiVersion} must return [cid, networks]`;
  if (Array.isArray(value)) return parseArray(value, given.networks, wanted);
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "vm_cid"))
    return parseObject(value, wanted);
  return refuse(`${wanted}, got ${kindOf(value)}`);
}

function parseArray(
  value: readonly unknown[],
  requested: Networks | undefined,
  wanted: string,
): ParsedCreateVm {
  const [cid, second, third] = value;
  if (!matches(vmCid, cid))
    return refuse(`${wanted}; its first element must be a non-empty string, got ${cidKind(cid)}`);
  if (value.length > 3) return refuse(`${wanted}; got an array of ${value.length}`);
  if (value.length === 3) {
    const networks = checkWithoutNulls(networksSchema, second ?? {}, "networks");
    const disks = checkWithoutNulls(disksSchema, third ?? {}, "disks");
    if (!networks.ok)
      return refuse(`${wanted}; its second element is not a networks hash: ${networks.problems.join("; ")}`);
    if (!disks.ok)
      return refuse(`${wanted}; its third element is not a disks hash: ${disks.problems.join("; ")}`);
    return {
      ok: true,
      vm: { dialect: "draft-b", cid, networks: networks.value, disks: disks.value },
    };
  }
  if (isDisks(second, requested)) {
    const disks = checkWithoutNulls(disksSchema, second, "disks");
    if (!disks.ok)
      return refuse(`${wanted}; its second element is not a disks hash: ${disks.problems.join("; ")}`);
    return { ok: true, vm: { dialect: "draft-a", cid, networks: undefined, disks: disks.value } };
  }
  const networks = checkWithoutNulls(networksSchema, second ?? {}, "networks");
  if (!networks.ok)
    return refuse(`${wanted}; its second element is not a networks hash: ${networks.problems.join("; ")}`);
  return { ok: true, vm: { dialect: "shipped", cid, networks: networks.value, disks: undefined } };
}

/** Disks, unless the deployment happens to call its networks `system` and `ephemeral`. */
function isDisks(value: unknown, requested: Networks | undefined): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  if (keys.length === 0 || !keys.every((key) => DISKS_KEYS.includes(key))) return false;
  const asked = Object.keys(requested ?? {});
  return !(asked.length === keys.length && asked.every((name) => keys.includes(name)));
}

/** The shape of spring 2018: `{vm_cid, networks, disk_hints}`. */
function parseObject(value: object, wanted: string): ParsedCreateVm {
  const { vm_cid: cid, networks, disk_hints: disks } = value as Record<string, unknown>;
  if (!matches(vmCid, cid))
    return refuse(`${wanted}; vm_cid must be a non-empty string, got ${cidKind(cid)}`);
  const nets = checkWithoutNulls(networksSchema, networks ?? {}, "networks");
  if (!nets.ok) return refuse(`${wanted}; ${nets.problems.join("; ")}`);
  const hints = checkWithoutNulls(disksSchema, disks ?? {}, "disk_hints");
  if (!hints.ok) return refuse(`${wanted}; ${hints.problems.join("; ")}`);
  return { ok: true, vm: { dialect: "2018-object", cid, networks: nets.value, disks: hints.value } };
}

/** Describes a value found in place of a cid, including text that no store would keep. */
const cidKind = (value: unknown): string =>
  typeof value === "string" && value.trim() !== ""
    ? `one that is too long (${value.length} characters) or has a NUL or half a character`
    : kindOf(value);
