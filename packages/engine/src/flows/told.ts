import type { JsonObject } from "@slipway/protocol/schema/json";
import type { InstancePlan } from "../plan/model.ts";

type Told = Pick<InstancePlan, "action" | "changes" | "desired" | "recorded">;

/** Returns the action and context for `bosh events` of the work on an instance, in upstream's words, which scripts look for. */
export function toldOf({ action, changes, desired, recorded }: Told): {
  readonly action: string;
  readonly context: JsonObject;
} {
  const kinds = [...new Set(changes.map(({ kind }) => kind))];
  const only = kinds.length === 1 ? kinds[0] : undefined;
  if (action === "stop" || action === "detach") return { action: "stop", context: {} };
  if (action !== "delete" && only === "restart") return { action: "restart", context: {} };
  if (action !== "delete" && only === "state" && desired?.state === "started")
    return { action: "start", context: {} };
  const said = only === "missing_vm" || only === "recreate" || action === "delete" ? [] : kinds;
  // Where VMs are swapped, the new one is made while the old one is there.
  const swaps = action === "create" && recorded?.vms.some(({ active }) => active) === true;
  return {
    action: swaps ? "recreate" : action === "metadata" ? "update" : action,
    context: {
      ...(typeof desired?.az === "string" && { az: desired.az }),
      ...(said.length > 0 && { changes: said }),
    },
  };
}
