import type { InstanceState } from "@slipway/protocol/director/instance";
import { deploymentNames } from "../api/deployments.ts";
import type { Tools } from "../tools.ts";
import type { Shown } from "./instance-table.ts";
import { fetchVmInfos } from "./vm-info.ts";

/** Says why the instances have no VM, and which command makes one again. */
function withoutVmText(infos: readonly InstanceState[], deployment: string): string {
  const names = infos.map(
    ({ job_name, id, state }) =>
      `${job_name ?? "?"}/${id ?? "?"}${state === "detached" ? " (stopped with --hard)" : ""}`,
  );
  const stopped = infos.every(({ state }) => state === "detached");
  const repair = stopped ? `slipway -d ${deployment} start` : `slipway -d ${deployment} cloud-check`;
  return `Without a VM: ${names.join(", ")}. \`${repair}\` makes ${infos.length === 1 ? "one" : "them"}.`;
}

/** Shows the instances of the named deployment, or of all, one table each. */
export async function showInstances(shown: Shown, { ui, director, deployment }: Tools): Promise<number> {
  const api = await director();
  const { instanceTable } = await import("./instance-table.ts");
  for (const name of await deploymentNames(api, deployment)) {
    const infos = await fetchVmInfos(api, name, shown.content);
    ui.table(instanceTable(infos, name, shown, ui.paint));
    // Beside the table: that one is as upstream's, where they look like VMs that run nothing.
    const without = infos.filter(({ vm_cid, errand }) => !errand && (vm_cid === null || vm_cid === ""));
    if (shown.content === "instances" && without.length > 0) ui.note(withoutVmText(without, name));
  }
  return 0;
}
