import type { NewTask } from "@slipway/director/tasks/task";
import type { TaskType } from "@slipway/protocol/director/task";
import { deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { Records } from "../judge/records.ts";
import type { Lab } from "../schedule/lab.ts";
import { instanceIn, networked, other, releaseTask, shop, stemcellTask } from "./base.ts";

/** An operation on the common state of the pairs. */
export interface PairOperation {
  readonly name: string;
  readonly task: (records: Records, lab: Lab) => NewTask;
}

const always = (name: string, task: NewTask): PairOperation => ({ name, task: () => task });

const on = (deployment: string, task: NewTask): NewTask => ({ ...task, deployment });

const attach = (which: 0 | 1): PairOperation => ({
  name: `attach orphan ${which}`,
  task: (records) =>
    taskOf("attach_disk", {
      ...{ deployment: "shop", group: "db", instance: instanceIn(records, "shop", "db").uuid },
      disk_cid: records.orphanDisks[which] ?? "",
    }),
});

const instanceTask = (group: string, action: string): PairOperation => ({
  name: `${action} ${group}`,
  task: (records) =>
    taskOf("update_instance", {
      ...{ group, instance: instanceIn(records, "shop", group).uuid, action, hard: false },
      ...{ skip_drain: false, ignore_unresponsive_agent: false },
    }),
});

/** Operations of the pairs by type of task. A new type has no line here and does not compile. */
const OPERATIONS_OF: Readonly<Record<TaskType, readonly PairOperation[]>> = {
  update_deployment: [
    always("deploy shop with another stemcell", deployTask(shop({ stemcell: "2.2" }, "d3"))),
    always(
      "deploy shop with another release",
      deployTask(shop({ releases: [{ name: "web", version: "2" }] }, "d3")),
    ),
    always("deploy other with more instances", deployTask({ ...other(2), swap: true })),
    always("deploy into the orphaned network", networked("made")),
  ],
  delete_deployment: [always("delete other", on("other", taskOf("delete_deployment", { force: false })))],
  update_stemcell: [
    { name: "upload a stemcell", task: (_, lab) => stemcellTask(lab, "2.3") },
    { name: "fix a stemcell", task: (_, lab) => stemcellTask(lab, "2.2", true) },
  ],
  delete_stemcell: [
    always("delete a stemcell", taskOf("delete_stemcell", { name: "sim", version: "2.2", force: false })),
  ],
  update_release: [
    { name: "upload a release", task: (_, lab) => releaseTask(lab, "3") },
    { name: "fix a release", task: (_, lab) => releaseTask(lab, "2", true) },
  ],
  delete_release: [
    always("delete a release", taskOf("delete_release", { name: "web", version: "2", force: false })),
  ],
  export_release: [
    always(
      "export a release",
      taskOf("export_release", {
        ...{ deployment: "shop", release: "web", version: "1", sha2: true, jobs: [] },
        ...{ stemcell_os: "sim-os", stemcell_version: "1.1" },
      }),
    ),
  ],
  delete_artifacts: [
    always("clean up all", taskOf("delete_artifacts", { remove_all: true, keep_orphaned_disks: false })),
  ],
  update_instance: [instanceTask("web", "restart"), instanceTask("app", "recreate")],
  instances: [always("list instances", taskOf("instances", { deployment: "shop" }))],
  vms: [always("list VMs", taskOf("vms", { deployment: "other" }))],
  attach_disk: [attach(0), attach(1)],
  orphan_disk: [
    {
      name: "orphan a disk",
      task: ({ disks }) =>
        taskOf("orphan_disk", {
          disk_cid: disks.find(({ instance }) => instance.startsWith("shop/db/"))?.cid ?? "",
        }),
    },
  ],
  delete_orphan_disks: [
    {
      name: "delete orphaned disks",
      task: ({ orphanDisks }) => taskOf("delete_orphan_disks", { disk_cids: [...orphanDisks] }),
    },
  ],
  delete_vm: [
    {
      name: "delete a VM",
      task: ({ vms }) =>
        taskOf("delete_vm", {
          vm_cid: vms.find(({ instance }) => instance.startsWith("shop/web/"))?.cid ?? "",
        }),
    },
  ],
  delete_orphaned_vms: [always("delete orphaned VMs", taskOf("delete_orphaned_vms", {}))],
  scheduled_orphaned_disk_cleanup: [
    always(
      "delete old orphaned disks",
      taskOf("scheduled_orphaned_disk_cleanup", { max_orphaned_age_in_days: 0 }),
    ),
  ],
  delete_orphan_networks: [
    always("delete orphaned networks", taskOf("delete_orphan_networks", { names: ["made"] })),
  ],
  cck_scan: [always("scan", on("sick", taskOf("cck_scan", { deployment: "sick" })))],
  cck_apply: [
    always(
      "resolve",
      on("sick", taskOf("cck_apply", { deployment: "sick", resolutions: { "1": "recreate_vm" } })),
    ),
  ],
  cck_scan_and_fix: [
    {
      name: "resurrect",
      task: (records) =>
        on(
          "sick",
          taskOf("cck_scan_and_fix", {
            deployment: "sick",
            instances: [instanceIn(records, "sick", "db").uuid],
          }),
        ),
    },
  ],
  renew_certificates: [always("renew certificates", taskOf("renew_certificates", {}))],
  fetch_logs: [
    {
      name: "fetch logs",
      task: (records) =>
        taskOf("fetch_logs", {
          ...{ deployment: "shop", instances: [instanceIn(records, "shop", "web").uuid] },
          ...{ types: "job", filters: [] },
        }),
    },
  ],
  ssh: [
    always(
      "ssh",
      taskOf("ssh", {
        ...{ deployment: "shop", group: "web", instances: [], command: "setup" },
        ...{ user: "sim", public_key: "ssh-rsa AAAA" },
      }),
    ),
  ],
  run_errand: [
    always(
      "run an errand",
      taskOf("run_errand", {
        ...{ deployment: "shop", errand: "tests", keep_alive: false, when_changed: false, instances: [] },
      }),
    ),
  ],
  create_snapshot: [
    {
      name: "take a snapshot",
      task: (records) =>
        taskOf("create_snapshot", {
          deployment: "other",
          instance: instanceIn(records, "other", "db").uuid,
        }),
    },
  ],
  snapshot_deployment: [
    always("take snapshots of other", taskOf("snapshot_deployment", { deployment: "other" })),
  ],
  snapshot_deployments: [always("take snapshots of all", taskOf("snapshot_deployments", {}))],
  delete_snapshot: [
    {
      name: "delete a snapshot",
      task: ({ snapshots }) =>
        taskOf("delete_snapshot", { deployment: "shop", snapshot_cid: snapshots[0]?.cid ?? "" }),
    },
  ],
  delete_deployment_snapshots: [
    always("delete snapshots of shop", taskOf("delete_deployment_snapshots", { deployment: "shop" })),
  ],
};

export const PAIR_OPERATIONS: readonly PairOperation[] = Object.values(OPERATIONS_OF).flat();
