import { listDeployments } from "../api/deployment-wire.ts";
import type { Tools } from "../tools.ts";
import type { Shown } from "./instance-table.ts";
import { fetchVmInfos } from "./vm-info.ts";

/** Of the deployment named, or of all, one table each. */
export async function showInstances(shown: Shown, { ui, director, deployment }: Tools): Promise<number> {
  const api = await director();
  const names =
    deployment === undefined ? (await listDeployments(api)).map(({ name }) => name) : [deployment];
  const { instanceTable } = await import("./instance-table.ts");
  for (const name of names)
    ui.table(instanceTable(await fetchVmInfos(api, name, shown.content), name, shown, ui.paint));
  return 0;
}
