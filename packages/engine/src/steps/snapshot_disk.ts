import { diskCid, type SnapshotCid } from "@slipway/protocol/ids";
import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { slug } from "../model/names.ts";
import { activeVm, type DiskRecord, type InstanceRecord } from "../model/records.ts";
import { callFields, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { createStep } from "./define.ts";

/** A disk of an instance, of which a snapshot is to be taken. */
export interface DiskToSnapshot {
  readonly instance: InstanceRecord;
  readonly disk: DiskRecord;
  /** Nothing writes to it. */
  readonly clean: boolean;
}

const schema = v.object({
  ...callFields,
  disk: diskCid,
  about: v.string(),
  metadata: jsonObject(),
  clean: v.boolean(),
  /** Who has asked for it, whoever settles it. */
  task: v.number(),
});

interface Taken {
  readonly cid: SnapshotCid;
  readonly createdAt: number;
}

export const snapshotDisk = createStep<v.InferOutput<typeof schema>, Taken, DiskToSnapshot>({
  name: "snapshot_disk",
  subject: "snapshot",
  calls: ["cpi snapshot_disk"],
  version: 1,
  schema,
  intent: ({ instance, disk, clean }, context) => ({
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
  }),
  run: async (intent, context) => {
    const { disk, metadata, cpi } = intent;
    const cid = await cloudOf(context, cpi).snapshotDisk(disk, metadata, optionsOf(intent, context));
    return { cid, createdAt: context.clock.now() };
  },
  record: ({ disk, cpi, clean, task }, { cid, createdAt }, writes) =>
    writes.addSnapshot({ cid, cpi, disk, clean, createdAt, task }),
  event: (_, made) => ({ action: "create", objectType: "snapshot", objectName: made?.cid ?? null }),
  stray: ({ disk, about }, { deployment }) => ({
    kind: "snapshot",
    about: `of disk ${disk} of ${about} in deployment ${deployment}`,
    addresses: [],
  }),
});
