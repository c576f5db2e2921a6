import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import type { CpiRequest } from "@slipway/protocol/cpi/envelope";
import { check } from "@slipway/protocol/schema/check";
import { type JsonObject, jsonObject } from "@slipway/protocol/schema/json";
import { checkWithoutNulls, withoutNulls } from "@slipway/protocol/schema/without-nulls";
import { type Disks, disks as disksSchema } from "@slipway/protocol/settings/disks";
import { cpiError } from "./errors.ts";

export interface Shipped {
  /** In the order of the shipped contract. */
  readonly args: readonly unknown[];
  readonly disks: Disks | undefined;
  readonly bootstrap: JsonObject | undefined;
}

/** Arguments of a draft dialect, for CPIs that announce it, as the shipped contract orders them. */
export function toShipped(
  request: CpiRequest,
  version: number,
  capabilities: Capabilities | undefined,
): Shipped {
  const args = request.arguments;
  const disks = withoutNulls(request.context.vm?.disks ?? undefined) as Disks | undefined;
  const plain: Shipped = { args, disks, bootstrap: undefined };
  if (version < 2 || capabilities === undefined) return plain;
  const takesDisks =
    (request.method === "attach_disk" && capabilities.attach_disk_takes_disks) ||
    (request.method === "detach_disk" && capabilities.detach_disk_returns_disks);
  if (takesDisks && args.length === 3) {
    const given = checkWithoutNulls(disksSchema, args[2], "arguments[2] (disks)");
    if (!given.ok) throw cpiError(`Arguments are not correct, details: '${given.problems.join("; ")}'`);
    return { ...plain, args: args.slice(0, 2), disks: given.value };
  }
  if (request.method === "create_vm" && capabilities.bootstrap_settings_arg && args.length === 6) {
    const given = check(jsonObject(), args[2], "arguments[2] (settings)");
    if (!given.ok) throw cpiError(`Arguments are not correct, details: '${given.problems.join("; ")}'`);
    const [stemcell, cloudProperties, , ...rest] = args;
    return {
      ...plain,
      args: [given.value.agent_id, stemcell, cloudProperties, ...rest],
      bootstrap: given.value,
    };
  }
  return plain;
}
