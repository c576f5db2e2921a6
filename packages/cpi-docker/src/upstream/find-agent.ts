import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { DockerCloudContext } from "../cloud-context.ts";
import { fileIn, hasFile } from "../engine/archive.ts";
import { NoInit, UnreadableAgentConfig } from "../errors.ts";
import { PLACES } from "../image-files.ts";

/** Paths in upstream's stemcells, where upstream's Docker CPI looks for these. */
const AGENT = "/var/vcap/bosh/bin/bosh-agent";
const AGENT_JSON = "/var/vcap/bosh/agent.json";
const RUNIT = "/usr/sbin/runsvdir-start";
const SYSTEMD = "/sbin/init";

/** How a VM of a stemcell with upstream's agent is started. */
export interface UpstreamAgent {
  readonly init: readonly string[];
  /** Must be process 1. */
  readonly systemd: boolean;
  /** Contents of its new `agent.json`. */
  readonly config: string;
}

/** Looks for upstream's agent in a container that was not started yet; undefined if it has another agent, usually ours. */
export async function findUpstreamAgent(
  cloud: DockerCloudContext,
  container: string,
  given: readonly string[] | undefined,
): Promise<UpstreamAgent | undefined> {
  const doing = (path: string) => `looking for ${path} in the stemcell`;
  const has = (path: string) => hasFile(cloud.engine, container, path, doing(path));
  if (!(await has(AGENT)) || (await has(`/${PLACES.agent}`))) return undefined;
  const config = configOf((await fileIn(cloud.engine, container, AGENT_JSON, doing(AGENT_JSON))) ?? "{}");
  const linux = objectIn(objectIn(config.Platform).Linux);
  const systemd = linux.ServiceManager === "systemd";
  const init = given ?? [systemd ? SYSTEMD : RUNIT];
  const [program = ""] = init;
  if (!(await has(program))) throw NoInit({ agent: AGENT, init: program });
  return { init, systemd, config: JSON.stringify(withDevices(config, linux)) };
}

/**
 * Adapts the configuration to block devices. Upstream's CPI gives the agent directories to bind, and replaces the VM
 * with every disk. Ours attaches block devices to a running one: the agent is to mount them, whole, as they are.
 */
const withDevices = (config: JsonObject, linux: JsonObject): JsonObject => ({
  ...config,
  Platform: {
    ...objectIn(config.Platform),
    Linux: { ...linux, UsePreformattedPersistentDisk: true, BindMountPersistentDisk: false },
  },
});

const objectIn = (value: unknown): JsonObject => (isObject(value) ? (value as JsonObject) : {});

function configOf(said: string): JsonObject {
  try {
    const value: unknown = JSON.parse(said);
    if (isObject(value)) return value as JsonObject;
  } catch (cause) {
    throw UnreadableAgentConfig({ path: AGENT_JSON }, { cause });
  }
  throw UnreadableAgentConfig({ path: AGENT_JSON });
}
