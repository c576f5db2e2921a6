import { slug } from "@slipway/engine/model/names";
import { deploymentDisk } from "@slipway/protocol/director/disk";
import { redact } from "@slipway/protocol/schema/redact";
import { diskHintWire } from "@slipway/protocol/settings/disk-hint";
import * as v from "valibot";
import { loadInstances } from "../../store/instances.ts";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/**
 * Lists the persistent disks of a deployment, where they are attached and the hints that agents got. Upstream does not have it.
 */
export const getDeploymentsNameDisks = endpoint({ reply: v.array(deploymentDisk) }, async (call, { db }) => {
  const { name } = await deploymentOf(db, param(call, "deployment"));
  const instances = await loadInstances(db, name);
  const disks = instances.flatMap((instance) => instance.disks.map((disk) => ({ instance, disk })));
  return json(
    disks.map(({ instance, disk }) => ({
      disk_cid: disk.cid,
      name: disk.name ?? "",
      size: disk.size,
      az: instance.az,
      cpi: disk.cpi,
      instance_name: slug(instance),
      index: instance.index,
      cloud_properties: disk.cloudProperties,
      active: disk.active,
      vm_cid: disk.attachedTo,
      hint: disk.hint === null ? null : redact(diskHintWire, disk.hint),
      mounted: disk.mounted,
    })),
  );
});
