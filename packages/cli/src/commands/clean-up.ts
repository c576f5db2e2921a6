import { type CleanUpPreview, cleanUpPreview } from "@slipway/protocol/director/cleanup";
import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import type { Ui } from "../ui/ui.ts";

/** `slipway clean-up` */
export const cleanUp: Command = {
  name: "clean-up",
  summary:
    "delete releases and stemcells that nobody uses, but for the newest two of each, and other leftovers",
  topic: "configuration",
  options: [
    { flags: "--all", about: "also the newest two, orphaned disks and compiled packages that nobody needs" },
    { flags: "--keep-orphaned-disks", about: "with --all: not the orphaned disks" },
    { flags: "--dry-run", about: "show what would be deleted, and delete nothing" },
  ],
  examples: [["slipway clean-up --all --dry-run", "what would go"]],
  async run(given, { ui, director }) {
    const wanted = {
      keep_orphaned_disks: given.flag("keep-orphaned-disks"),
      remove_all: given.flag("all"),
    };
    const api = await director();
    if (given.flag("dry-run")) {
      const query = {
        keep_orphaned_disks: String(wanted.keep_orphaned_disks),
        remove_all: String(wanted.remove_all),
      };
      show(ui, await api.json({ method: "GET", path: "/cleanup/dryrun", query }, cleanUpPreview));
      return 0;
    }
    await requireConfirmation(ui);
    await runTask(api, {
      method: "POST",
      path: "/cleanup",
      contentType: "application/json",
      body: JSON.stringify({ config: wanted }),
    });
    return 0;
  },
};

/** Upstream's tables. */
function show(ui: Ui, preview: CleanUpPreview): void {
  const table = (
    title: string,
    header: Readonly<Record<string, string>>,
    rows: readonly (readonly string[])[],
  ) =>
    ui.table({
      ...{ title, content: "", count: null, header },
      rows: [...rows].sort(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0)),
    });
  const named = { name: "Name", version: "Version" };
  const blob = { blob_id: "Blob ID" };
  const holder = { deployment: "Deployment", instance: "Instance" };
  table(
    "Unused Releases",
    named,
    preview.releases.flatMap(({ name, versions }) => versions.map((version) => [name, version])),
  );
  table(
    "Unused Stemcells",
    named,
    preview.stemcells.map(({ name, version }) => [name, version]),
  );
  table(
    "Unused Compiled Packages",
    { name: "Name", stemcell_os: "Stemcell OS", stemcell_version: "Stemcell Version" },
    preview.compiled_packages.map((one) => [one.package_name, one.stemcell_os, one.stemcell_version]),
  );
  table(
    "Exported Releases",
    blob,
    preview.exported_releases.map((id) => [id]),
  );
  table(
    "Stale DNS Record Blobs",
    blob,
    preview.dns_blobs.map((id) => [id]),
  );
  table(
    "Orphaned Disks",
    { disk_cid: "Disk CID", ...holder, size_mb: "Size (mb)" },
    preview.orphaned_disks.map((disk) => [
      disk.disk_cid,
      disk.deployment_name ?? "",
      disk.instance_name ?? "",
      String(disk.size ?? 0),
    ]),
  );
  table(
    "Orphaned VMs",
    { vm_cid: "VM CID", ...holder },
    preview.orphaned_vms.map((vm) => [vm.cid, vm.deployment_name ?? "", vm.instance_name ?? ""]),
  );
}
