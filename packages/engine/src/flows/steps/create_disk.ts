import type { DiskCid, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type InstanceUuid, slug } from "../../model/names.ts";
import { activeDisk, activeVm } from "../../model/records.ts";
import { type CallIntent, newRequestId, optionsOf } from "../calls.ts";
import { diskFits, newDisk } from "../select.ts";
import { settleCreate } from "../settle-create.ts";
import { cloudOf, defineStep, type FlowContext, type Subject } from "../step.ts";

interface CreateDisk extends CallIntent {
  readonly instance: InstanceUuid;
  readonly about: string;
  readonly size: number;
  readonly cloudProperties: JsonObject;
  readonly vm: VmCid | null;
}

export const createDisk = defineStep<CreateDisk, DiskCid>({
  name: "create_disk",
  done: (subject) => newDisk(subject) !== undefined || activeFits(subject),
  intent: ({ instance, plan: { desired } }, context) => {
    if (desired === undefined || desired.persistentDisk === null) return undefined;
    const vm = activeVm(instance);
    return {
      requestId: newRequestId(context),
      cpi: desired.cpi,
      stemcellApiVersion: vm?.stemcell.apiVersion,
      instance: instance.uuid,
      about: slug(instance),
      size: desired.persistentDisk.size,
      cloudProperties: desired.persistentDisk.cloudProperties,
      vm: vm?.cid ?? null,
    };
  },
  run: create,
  record: ({ instance, size, cloudProperties, cpi }, cid, writes) =>
    writes.addDisk(instance, { cid, size, cloudProperties, cpi, active: false }),
  settle: (intent, context) => {
    const about = `${intent.size} MiB for ${intent.about} in deployment ${context.deployment}`;
    return settleCreate("disk", about, intent, create, context);
  },
});

function create(intent: CreateDisk, context: FlowContext): Promise<DiskCid> {
  const { size, cloudProperties, vm } = intent;
  return cloudOf(context, intent.cpi).createDisk(size, cloudProperties, vm, optionsOf(intent, context));
}

/** A disk that is to be made anew though it fits has the change in its plan. */
function activeFits({ instance, plan }: Subject): boolean {
  const disk = activeDisk(instance);
  if (disk === undefined || !diskFits(disk, plan.desired?.persistentDisk)) return false;
  return !plan.changes.some(({ kind }) => kind === "persistent_disk");
}
