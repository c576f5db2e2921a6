import type { DirectorApi } from "../api/director-api.ts";
import { piece } from "../api/request-path.ts";
import type { Tools } from "../tools.ts";
import { localTimeText } from "../ui/time-text.ts";
import { DEPLOYMENT, GROUP } from "./documents.ts";
import type { Sandbox } from "./sandbox.ts";

const PATH = "demo/note";

const request = (sandbox: Sandbox) => ({
  path: `/deployments/${DEPLOYMENT}/instance_groups/${GROUP}/${piece(sandbox.instance)}/store`,
  query: { path: PATH },
});

/** Writes a note to the sandbox's disk, through its agent; what it says. */
export async function writeNote(
  api: DirectorApi,
  sandbox: Sandbox,
  { clock }: Pick<Tools, "clock">,
): Promise<string> {
  const note = `written on ${localTimeText(clock.now())}`;
  await api.text({ method: "PUT", ...request(sandbox), body: `${note}\n`, contentType: "text/plain" });
  return note;
}

export async function readNote(api: DirectorApi, sandbox: Sandbox): Promise<string> {
  return (await api.text({ method: "GET", ...request(sandbox) })).trim();
}
