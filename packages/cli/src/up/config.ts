import type { Acceptable } from "@slipway/director/start/identity";
import type { Random } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Home } from "../home/home.ts";
import { StateDirGiven } from "./errors.ts";
import { type TransportName, withNats } from "./nats.ts";
import { choosePort, mustBeFree } from "./port.ts";
import { type AskedConfig, configOf } from "./remembered-config.ts";

export interface CloudOptions extends AskedConfig {
  readonly port: number | undefined;
  /** What the operator has changed on purpose, for the Director. */
  readonly accept?: readonly Acceptable[];
  /** How agents of new VMs are reached; undefined: as the last time. */
  readonly transport?: TransportName | undefined;
}

/** The Director's configuration, with a port that is free. Asked before anything is started. */
export async function chooseConfig(
  options: CloudOptions,
  home: Home,
  random: Random,
): Promise<DirectorConfig> {
  const { readConfig } = await import("@slipway/director/start/config-file");
  const path = await configOf(options, home);
  const config = await readConfig(path);
  if (path !== undefined && config.state_dir !== undefined) throw StateDirGiven({ path });
  const port = await choosePort(home, options.port, config.listen?.port);
  await mustBeFree(config.listen?.host ?? "127.0.0.1", port);
  return await withNats({ ...config, listen: { ...config.listen, port } }, options.transport, home, random);
}
