import {
  type DeploymentDisk,
  deploymentDisk,
  type OrphanDisk,
  orphanDisk,
} from "@slipway/protocol/director/disk";
import * as v from "valibot";
import { deploymentNames } from "../api/deployments.ts";
import type { DirectorApi } from "../api/director-api.ts";
import { refusalOf } from "../api/refusal.ts";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";
import { mebibytesText } from "../ui/size-text.ts";
import { timeText } from "../ui/time-text.ts";
import type { Ui } from "../ui/ui.ts";
import { OnlyOrphans } from "./errors.ts";

/** Columns of every disk, attached or orphaned. */
const HEADER = {
  disk_cid: "Disk CID",
  size: "Size",
  deployment: "Deployment",
  instance: "Instance",
  az: "AZ",
};
const cellsOf = (one: OrphanDisk | DeploymentDisk, deployment: string): string[] => [
  one.disk_cid,
  mebibytesText(one.size ?? 0),
  deployment,
  one.instance_name ?? "",
  one.az ?? "",
];

export const disks: Command = {
  name: "disks",
  summary: "list the persistent disks of deployments, or orphaned ones",
  topic: "configuration",
  options: [{ flags: "-o, --orphaned", about: "disks that belong to no instance any more" }],
  examples: [["slipway disks --orphaned", "what deployments have left"]],
  async run(given, { ui, director, deployment }) {
    const api = await director();
    if (given.flag("orphaned")) await showOrphans(api, ui);
    else await showAttached(api, ui, deployment);
    return 0;
  },
};

async function showOrphans(api: DirectorApi, ui: Ui): Promise<void> {
  const orphans = await api.json({ method: "GET", path: "/disks" }, v.array(orphanDisk));
  const when = (one: OrphanDisk) => one.orphaned_at ?? "";
  // The table is upstream's unless the outcome of a deletion is unknown.
  const deleting = orphans.some((one) => one.deleting_since !== undefined);
  ui.table({
    content: "disks",
    header: {
      ...HEADER,
      orphaned_at: "Orphaned At",
      ...(deleting && { deleting_since: "Deleting Since" }),
    },
    rows: [...orphans]
      .sort((a, b) => (when(a) < when(b) ? 1 : -1))
      .map((one) => [
        ...cellsOf(one, one.deployment_name ?? ""),
        timeText(one.orphaned_at),
        ...(deleting ? [timeText(one.deleting_since)] : []),
      ]),
  });
}

/** Ours: another Director has no list of them. */
async function showAttached(api: DirectorApi, ui: Ui, deployment: string | undefined): Promise<void> {
  const rows: string[][] = [];
  for (const name of await deploymentNames(api, deployment)) {
    for (const one of await attachedDisks(api, name)) {
      rows.push([...cellsOf(one, name), one.vm_cid ?? "", stateOf(one)]);
    }
  }
  ui.table({
    content: "disks",
    header: {
      ...HEADER,
      vm_cid: "VM CID",
      state: "State",
    },
    rows,
  });
}

function stateOf({ name, mounted, vm_cid: vm, active }: DeploymentDisk): string {
  const named = name === null || name === undefined || name === "" ? "" : ` as '${name}'`;
  const there = named === "" ? "mounted" : "linked";
  const where = `${mounted === true ? there : vm ? "attached" : "detached"}${named}`;
  return active === false ? `${where}, not active` : where;
}

async function attachedDisks(api: DirectorApi, deployment: string) {
  try {
    return await api.json(
      { method: "GET", path: `/deployments/${pathSegment(deployment)}/disks` },
      v.array(deploymentDisk),
    );
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.status === 404 && refusal.directorCode === undefined) throw OnlyOrphans({});
    throw error;
  }
}
