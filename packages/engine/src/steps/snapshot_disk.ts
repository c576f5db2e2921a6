import { diskCid, type SnapshotCid } from "@slipway/protocol/ids";
import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { refusedAs } from "../clouds/cloud.ts";
import type { Stray, Writes } from "../journal/writes.ts";
import { slug } from "../model/names.ts";
import { activeVm, type DiskRecord, type InstanceRecord } from "../model/records.ts";
import { callFields, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf, type FlowContext } from "./context.ts";
import { createStep } from "./define.ts";
import type { StepEvent } from "./step.ts";

/** A disk of an instance, of which a snapshot is to be taken. */
export interface DiskToSnapshot {
  readonly instance: InstanceRecord;
  readonly disk: DiskRecord;
  /** True if nothing writes to the disk. */
  readonly clean: boolean;
}

const schema = v.object({
  ...callFields,
  disk: diskCid,
  about: v.string(),
  metadata: jsonObject(),
  clean: v.boolean(),
  /** Task that asked for the snapshot, also if another task settles it. */
  task: v.number(),
});
type Intent = v.InferOutput<typeof schema>;

interface Taken {
  readonly cid: SnapshotCid;
  readonly createdAt: number;
}

/** Properties that both snapshot steps share. */
const common = {
  subject: "snapshot",
  calls: ["cpi snapshot_disk"],
  version: 1,
  schema,
  event: ({ about }: Intent, made: Taken | null | undefined): StepEvent => ({
    action: "create",
    objectType: "snapshot",
    objectName: made?.cid ?? null,
    instance: about,
  }),
  stray: (
    { disk, about }: Intent,
    { deployment }: FlowContext,
  ): Pick<Stray, "kind" | "about" | "addresses"> => ({
    kind: "snapshot",
    about: `of disk ${disk} of ${about} in deployment ${deployment}`,
    addresses: [],
  }),
} as const;

const intentOf = ({ instance, disk, clean }: DiskToSnapshot, context: FlowContext): Intent => ({
  requestId: newRequestId(context),
  cpi: disk.cpi,
  disk: disk.cid,
  about: slug(instance),
  metadata: {
    ...instance.spec?.tags,
    deployment: context.deployment,
    job: instance.group,
    index: instance.index,
    director_name: context.settings.directorName,
    director_uuid: context.settings.directorUuid,
    agent_id: activeVm(instance)?.agentId ?? null,
    instance_id: instance.uuid,
  },
  clean,
  task: context.journal.taskId,
});

async function take(intent: Intent, context: FlowContext): Promise<Taken> {
  const { disk, metadata, cpi } = intent;
  const cid = await cloudOf(context, cpi).snapshotDisk(disk, metadata, optionsOf(intent, context));
  return { cid, createdAt: context.clock.now() };
}

const record = ({ disk, cpi, clean, task }: Intent, { cid, createdAt }: Taken, writes: Writes) =>
  writes.addSnapshot({ cid, cpi, disk, clean, createdAt, task });

export const snapshotDisk = createStep<Intent, Taken, DiskToSnapshot>({
  ...common,
  name: "snapshot_disk",
  intent: intentOf,
  run: take,
  record,
});

/**
 * Takes a snapshot of each disk of an instance whose jobs were stopped, before any other change. Each task takes one, however
 * often it is interrupted. A CPI without snapshots is no failure.
 */
export const snapshotDisks = createStep<Intent, Taken | null>({
  ...common,
  name: "snapshot_disks",
  loop: true,
  status: "taking snapshots",
  intent: ({ instance, goal }, context) => {
    const disk = instance.disks.find(
      ({ cid, snapshotTask }) =>
        goal.snapshotsOf?.includes(cid) === true && snapshotTask !== context.journal.taskId,
    );
    return disk && intentOf({ instance, disk, clean: true }, context);
  },
  run: async (intent, context) => {
    try {
      return await take(intent, context);
    } catch (error) {
      if (!refusedAs(error, "NotImplemented", "NotSupported")) throw error;
      context.warn?.(`the CPI takes no snapshots: none of ${intent.about}`);
      return null;
    }
  },
  record: (intent, taken, writes) => {
    if (taken === null) writes.updateDisk(intent.disk, { snapshotTask: intent.task });
    else record(intent, taken, writes);
  },
});
