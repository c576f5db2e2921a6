import { readFile } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { CaUnreadable } from "./errors.ts";
import { ExternalConfigServer } from "./external.ts";

/** The one of the configuration; undefined when it names none. Nothing is asked of it yet. */
export async function openConfigServer(
  config: DirectorConfig["config_server"],
  clock: Clock,
): Promise<ExternalConfigServer | undefined> {
  if (config === undefined) return undefined;
  const { url, uaa } = config;
  return new ExternalConfigServer({
    url,
    ca: await certificateOf("config_server.ca", config.ca),
    uaa: {
      url: uaa.url,
      clientId: uaa.client_id,
      clientSecret: uaa.client_secret,
      ca: await certificateOf("config_server.uaa.ca", uaa.ca),
    },
    clock,
  });
}

/** PEM as it is given, or of the file that is named. */
export async function certificateOf(what: string, given: string | undefined): Promise<string | undefined> {
  if (given === undefined || given.includes("-----BEGIN")) return given;
  try {
    return await readFile(given, "utf8");
  } catch (cause) {
    throw CaUnreadable({ what, path: given }, { cause });
  }
}
