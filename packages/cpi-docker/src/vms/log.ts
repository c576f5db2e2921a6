import type { DockerCloudContext } from "../cloud-context.ts";
import { framesOf } from "../engine/frames.ts";
import type { Container } from "./containers.ts";
import { hasUpstreamAgent, inVm } from "./inside-vm.ts";

const LINES = "200";
/** Log of upstream's agent; ours writes to the output of its container. */
const UPSTREAM_LOG = "/var/vcap/bosh/log/current";

/** Returns what a VM has written: to the output of its container, and to the log of upstream's agent if it has one. */
export async function logOf(cloud: DockerCloudContext, vm: string, found: Container): Promise<string> {
  const output = await outputOf(cloud, vm, LINES);
  if (!hasUpstreamAgent(found)) return output;
  const ran = await inVm(cloud, vm, ["tail", "-n", LINES, UPSTREAM_LOG]);
  return ran === "off" || ran === "gone" || ran.code !== 0 ? output : `${output}${ran.stdout}`;
}

/** Returns the last lines that the container has written, or `all`. */
export async function outputOf({ engine }: DockerCloudContext, vm: string, lines: string): Promise<string> {
  const reply = await engine.stream({
    doing: `reading the log of '${vm}'`,
    method: "GET",
    path: `/containers/${encodeURIComponent(vm)}/logs`,
    query: { stdout: "true", stderr: "true", tail: lines },
  });
  let text = "";
  for await (const frame of framesOf(reply)) text += frame.text;
  return text;
}
