import { orphanDisk } from "@slipway/protocol/director/disk";
import * as v from "valibot";
import { listOrphanDisks } from "../../store/disks.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { utc } from "../times.ts";

/** The orphaned ones: what `bosh disks --orphaned` lists. */
export const getDisks = endpoint({ reply: v.array(orphanDisk) }, async (_call, { db }) => {
  const disks = await listOrphanDisks(db);
  return json(
    disks.map((disk) => ({
      disk_cid: disk.cid,
      size: disk.size,
      az: disk.az,
      deployment_name: disk.deployment,
      instance_name: disk.instance,
      cloud_properties: disk.cloudProperties,
      orphaned_at: utc(disk.orphanedAt),
    })),
  );
});
