import { type DiskCid, vmCid } from "@slipway/protocol/ids";
import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { instanceUuid, slug } from "../model/names.ts";
import { activeDisk, activeVm } from "../model/records.ts";
import { callFields, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { createStep } from "./define.ts";
import { diskFits, newDisk } from "./select.ts";
import type { StepSubject } from "./step.ts";

const schema = v.object({
  ...callFields,
  instance: instanceUuid,
  about: v.string(),
  size: v.number(),
  cloudProperties: jsonObject(),
  vm: v.nullable(vmCid),
});

interface Created {
  readonly cid: DiskCid;
  readonly createdAt: number;
}

export const createDisk = createStep<v.InferOutput<typeof schema>, Created>({
  name: "create_disk",
  subject: "disk",
  calls: ["cpi create_disk"],
  status: "creating disk",
  line: () => "Creating disk",
  version: 1,
  schema,
  intent: (subject, context) => {
    const { instance, goal } = subject;
    const { desired } = goal;
    if (desired === undefined || desired.persistentDisk === null) return undefined;
    if (newDisk(subject) !== undefined || activeFits(subject)) return undefined;
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
  run: async (intent, context) => {
    const { size, cloudProperties, vm } = intent;
    const cloud = cloudOf(context, intent.cpi);
    const cid = await cloud.createDisk(size, cloudProperties, vm, optionsOf(intent, context));
    return { cid, createdAt: context.clock.now() };
  },
  record: ({ size, cloudProperties, cpi }, { cid, createdAt }, writes) =>
    writes.addDisk({ cid, size, cloudProperties, cpi, active: false, createdAt }),
  event: (_, { cid }) => ({ action: "create", objectType: "disk", objectName: cid }),
  stray: ({ size, about }, { deployment }) => ({
    kind: "disk",
    about: `${size} MiB for ${about} in deployment ${deployment}`,
    addresses: [],
  }),
});

/** A disk that is to be made anew though it fits has the change in its plan. */
function activeFits({ instance, goal }: StepSubject): boolean {
  const disk = activeDisk(instance);
  if (disk === undefined || !diskFits(disk, goal.desired?.persistentDisk)) return false;
  return !goal.changes.some(({ kind }) => kind === "persistent_disk");
}
