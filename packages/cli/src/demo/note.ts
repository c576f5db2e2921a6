import type { DirectorApi } from "../api/director-api.ts";
import { piece } from "../api/request-path.ts";
import type { Tools } from "../tools.ts";
import { localTimeText } from "../ui/time-text.ts";
import { DEPLOYMENT, GROUP } from "./documents.ts";
import type { DemoVm } from "./vm.ts";

const PATH = "demo/note";

const request = (vm: DemoVm) => ({
  path: `/deployments/${DEPLOYMENT}/instance_groups/${GROUP}/${piece(vm.instance)}/store`,
  query: { path: PATH },
});

/** Writes a note to the VM's disk, through its agent; what it says. */
export async function writeNote(
  api: DirectorApi,
  vm: DemoVm,
  { clock }: Pick<Tools, "clock">,
): Promise<string> {
  const note = `written on ${localTimeText(clock.now())}`;
  await api.text({ method: "PUT", ...request(vm), body: `${note}\n`, contentType: "text/plain" });
  return note;
}

export async function readNote(api: DirectorApi, vm: DemoVm): Promise<string> {
  return (await api.text({ method: "GET", ...request(vm) })).trim();
}
