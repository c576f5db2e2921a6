import { slug } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { StepName } from "../plan/model.ts";
import type { FlowContext } from "./step.ts";

/** Steps that operators look up in `bosh events`, and what they are called there. */
const AUDITED: Readonly<
  Partial<Record<StepName, { readonly action: string; readonly type: "vm" | "disk" }>>
> = {
  create_vm: { action: "create", type: "vm" },
  delete_vm: { action: "delete", type: "vm" },
  delete_unused_vm: { action: "delete", type: "vm" },
  orphan_vm: { action: "orphan", type: "vm" },
  create_disk: { action: "create", type: "disk" },
  orphan_disk: { action: "orphan", type: "disk" },
};

export async function audit(
  name: StepName,
  subject: Pick<InstanceRecord, "group" | "uuid">,
  intent: object,
  outcome: unknown,
  context: FlowContext,
): Promise<void> {
  const known = AUDITED[name];
  if (known === undefined) return;
  const { action, type } = known;
  await context.audit({
    action,
    objectType: type,
    objectName: cidIn(intent, type) ?? cidOf(outcome) ?? "unknown",
    deployment: context.deployment,
    instance: slug(subject),
  });
}

function cidIn(intent: object, key: "vm" | "disk"): string | undefined {
  const value = (intent as Readonly<Record<string, unknown>>)[key];
  return typeof value === "string" ? value : undefined;
}

function cidOf(outcome: unknown): string | undefined {
  if (typeof outcome === "string") return outcome;
  if (typeof outcome !== "object" || outcome === null || !("cid" in outcome)) return undefined;
  return typeof outcome.cid === "string" ? outcome.cid : undefined;
}
