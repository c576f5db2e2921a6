import { orphanedVm } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import { listOrphanedVms } from "../../store/orphaned-vms.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { utc } from "../times.ts";

export const getOrphanedVms = endpoint({ reply: v.array(orphanedVm) }, async (_call, { db }) => {
  const vms = await listOrphanedVms(db);
  return json(
    vms.map((vm) => ({
      az: vm.az,
      cid: vm.cid,
      deployment_name: vm.deployment,
      instance_name: vm.instance,
      ip_addresses: vm.ips,
      orphaned_at: utc(vm.orphanedAt),
    })),
  );
});
