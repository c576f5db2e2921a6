import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { ifThere } from "@slipway/kernel/files";
import { isTaken } from "@slipway/kernel/ports";
import type { Home } from "../home/home.ts";
import { BadPort, PortInUse } from "./errors.ts";
import { holderOf } from "./port-holder.ts";

const DEFAULT_PORT = 25555;

const portFile = (home: Home): string => join(home.dir, "port");

/** As the user wrote it; undefined where it was left out. */
export function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const port = Number(given);
  if (!/^\d{1,5}$/.test(given) || port > 65535) throw BadPort({ given });
  return port;
}

/** The one asked for, of the configuration, of the last time, or upstream's. */
export async function choosePort(
  home: Home,
  asked: number | undefined,
  configured: number | undefined,
): Promise<number> {
  return asked ?? configured ?? (await rememberedPort(home)) ?? DEFAULT_PORT;
}

async function rememberedPort(home: Home): Promise<number | undefined> {
  const noted = await ifThere(readFile(portFile(home), "utf8"));
  const port = Number(noted?.trim());
  return Number.isInteger(port) && port > 0 && port < 65536 ? port : undefined;
}

export const rememberPort = (home: Home, port: number): Promise<void> =>
  writeFileAtomic(portFile(home), `${port}\n`);

/** Asked before anything is started, so that the answer comes at once and names who is there. */
export async function mustBeFree(host: string, port: number): Promise<void> {
  if (port === 0 || !(await isTaken(host, port))) return;
  throw PortInUse({ host, port, holder: (await holderOf(port)) ?? "another program" });
}
