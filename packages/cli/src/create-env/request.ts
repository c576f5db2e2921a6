import type { Option, TypedInput } from "../command.ts";
import { readDocument } from "../interpolate/document.ts";
import type { Tools } from "../tools.ts";
import type { EnvRequest } from "./session.ts";

export const stateOption: Option = {
  flags: "--state <path>",
  about: "the state file; default: <manifest>-state.json beside the manifest",
};

export const skipDrainOption: Option = {
  flags: "--skip-drain",
  about: "stop the VM that is there without draining its jobs",
};

/** Reads what the user asks of an environment without a Director. Every variable must have a value. */
export async function readRequest(given: TypedInput, tools: Tools): Promise<EnvRequest> {
  const manifestPath = given.argument(0) ?? "-";
  const { value: document } = await readDocument(manifestPath, given, tools, { all: true });
  return { manifestPath, document, statePath: given.text("state"), skipDrain: given.flag("skip-drain") };
}
