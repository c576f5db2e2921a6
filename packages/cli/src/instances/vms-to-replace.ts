import { vm } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { refusalOf } from "../api/refusal.ts";
import { pathSegment } from "../api/request-path.ts";

/**
 * How many VMs a deploy with --recreate is about, as recorded; with a time, those made before it. Ignored instances are
 * among them: only the plan knows.
 */
export async function vmsToReplace(
  api: DirectorApi,
  deployment: string,
  before: string | undefined,
): Promise<number> {
  const path = `/deployments/${pathSegment(deployment)}/vms`;
  const vms = await api.json({ method: "GET", path }, v.array(vm)).catch((error: unknown) => {
    // Not deployed yet.
    if (refusalOf(error)?.status === 404) return [];
    throw error;
  });
  const limit = before === undefined ? Number.POSITIVE_INFINITY : Date.parse(before);
  return vms.filter((one) => one.active !== false && !(Date.parse(one.vm_created_at ?? "") >= limit)).length;
}

export const replacedText = (count: number): string =>
  count === 0
    ? "No VM will be replaced: there is none."
    : `${count} ${count === 1 ? "VM" : "VMs"} will be replaced by ${count === 1 ? "a new one" : "new ones"}; disks are kept.`;
