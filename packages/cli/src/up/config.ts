import type { Random } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Home } from "../home/home.ts";
import { StateDirGiven } from "./errors.ts";
import { type TransportName, withNats } from "./nats.ts";
import { choosePort, mustBeFree } from "./port.ts";

export interface CloudOptions {
  readonly port: number | undefined;
  /** The Director's configuration file. */
  readonly config: string | undefined;
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
  const config = await readConfig(options.config);
  if (options.config !== undefined && config.state_dir !== undefined)
    throw StateDirGiven({ path: options.config });
  const port = await choosePort(home, options.port, config.listen?.port);
  await mustBeFree(config.listen?.host ?? "127.0.0.1", port);
  return await withNats({ ...config, listen: { ...config.listen, port } }, options.transport, home, random);
}
