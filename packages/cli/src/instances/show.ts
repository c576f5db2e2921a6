import { deploymentNames } from "../api/deployments.ts";
import type { Tools } from "../tools.ts";
import type { Shown } from "./instance-table.ts";
import { fetchVmInfos } from "./vm-info.ts";

/** Of the deployment named, or of all, one table each. */
export async function showInstances(shown: Shown, { ui, director, deployment }: Tools): Promise<number> {
  const api = await director();
  const { instanceTable } = await import("./instance-table.ts");
  for (const name of await deploymentNames(api, deployment))
    ui.table(instanceTable(await fetchVmInfos(api, name, shown.content), name, shown, ui.paint));
  return 0;
}
