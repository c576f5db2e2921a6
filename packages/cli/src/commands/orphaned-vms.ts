import { orphanedVm } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import type { Command } from "../command.ts";
import { timeText } from "../ui/time-text.ts";

export const orphanedVms: Command = {
  name: "orphaned-vms",
  summary: "list VMs that were replaced and are still to be deleted",
  topic: "inspect",
  async run(_given, { ui, director }) {
    const api = await director();
    const found = await api.json({ method: "GET", path: "/orphaned_vms" }, v.array(orphanedVm));
    ui.table({
      content: "orphaned_vms",
      rowNames: ["orphaned VM", "orphaned VMs"],
      header: {
        vm_cid: "VM CID",
        deployment: "Deployment",
        instance: "Instance",
        az: "AZ",
        ips: "IPs",
        orphaned_at: "Orphaned At",
      },
      rows: found.map((one) => [
        one.cid,
        one.deployment_name ?? "",
        one.instance_name ?? "",
        one.az ?? "",
        (one.ip_addresses ?? []).join("\n"),
        timeText(one.orphaned_at),
      ]),
    });
    return 0;
  },
};
