import { type DiskCid, vmCid } from "@slipway/protocol/ids";
import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { NamedDisk, WantedDisk } from "../model/goal.ts";
import { instanceUuid, slug } from "../model/names.ts";
import { activeDisk, activeVm } from "../model/records.ts";
import { callFields, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { createStep } from "./define.ts";
import { diskFits, newDisk } from "./select.ts";
import type { Step, StepSubject, StepWords } from "./step.ts";
import { valuesIn } from "./values.ts";

const schema = v.object({
  ...callFields,
  instance: instanceUuid,
  about: v.string(),
  size: v.number(),
  cloudProperties: jsonObject(),
  vm: v.nullable(vmCid),
  /** Name of a named disk. */
  name: v.optional(v.string()),
});

interface Created {
  readonly cid: DiskCid;
  readonly createdAt: number;
}

const create = (
  name: string,
  words: Omit<StepWords, "calls"> & { readonly loop?: true },
  which: (subject: StepSubject) => WantedDisk | NamedDisk | undefined,
): Step<StepSubject> =>
  createStep<v.InferOutput<typeof schema>, Created>({
    ...words,
    name,
    subject: "disk",
    calls: ["cpi create_disk"],
    version: 1,
    schema,
    intent: (subject, context) => {
      const { instance, goal } = subject;
      const wanted = which(subject);
      if (goal.desired === undefined || wanted === undefined) return undefined;
      const vm = activeVm(instance);
      return {
        requestId: newRequestId(context),
        cpi: goal.desired.cpi,
        stemcellApiVersion: vm?.stemcell.apiVersion,
        instance: instance.uuid,
        about: slug(instance),
        size: wanted.size,
        cloudProperties: wanted.cloudProperties,
        ...("name" in wanted && { name: wanted.name }),
        vm: vm?.cid ?? null,
      };
    },
    run: async (intent, context) => {
      const { size, vm } = intent;
      const cloudProperties = await valuesIn(intent.cloudProperties, context);
      const cloud = cloudOf(context, intent.cpi);
      const cid = await cloud.createDisk(size, cloudProperties, vm, optionsOf(intent, context));
      return { cid, createdAt: context.clock.now() };
    },
    record: ({ name, size, cloudProperties, cpi }, { cid, createdAt }, writes) =>
      writes.addDisk({
        cid,
        ...(name !== undefined && { name }),
        size,
        cloudProperties,
        cpi,
        active: false,
        createdAt,
      }),
    event: (_, made) => ({ action: "create", objectType: "disk", objectName: made?.cid ?? null }),
    stray: ({ size, about }, { deployment }) => ({
      kind: "disk",
      about: `${size} MiB for ${about} in deployment ${deployment}`,
      addresses: [],
    }),
  });

export const createDisk = create(
  "create_disk",
  { status: "creating disk", line: () => "Creating disk" },
  (subject) =>
    newDisk(subject) !== undefined || activeFits(subject)
      ? undefined
      : (subject.goal.desired?.persistentDisk ?? undefined),
);

/** Returns true if the active disk is kept. A disk that is replaced although it fits has the change in its plan. */
function activeFits({ instance, goal }: StepSubject): boolean {
  const disk = activeDisk(instance);
  if (disk === undefined || !diskFits(disk, goal.desired?.persistentDisk)) return false;
  return !goal.changes.some(({ kind }) => kind === "persistent_disk");
}

export const createNamedDisk = create(
  "create_named_disk",
  { status: "creating disk", loop: true },
  (subject) => {
    const { instance, goal } = subject;
    return goal.desired?.namedDisks?.find((wanted) => {
      const { name } = wanted;
      if (newDisk(subject, name) !== undefined) return false;
      if (goal.named?.renewed.includes(name)) return true;
      // One that the CPI was to change, and could not.
      const active = activeDisk(instance, name);
      return goal.named?.changed.includes(name) === true && active !== undefined && !diskFits(active, wanted);
    });
  },
);
