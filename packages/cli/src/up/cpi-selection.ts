import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Choice, CpiName } from "../home/choice.ts";
import { BadCpi, NotForLocal, OtherCpi } from "./errors.ts";
import { WORDS } from "./words.ts";

/** As the user wrote it. */
export interface Asked {
  readonly cpi: string | undefined;
  readonly dockerHost: string | undefined;
}

/** Which CPI is to make the VMs, and where its engine is. */
export type CpiSelection =
  | { readonly cpi: "local" }
  | { readonly cpi: "docker"; readonly host: string; readonly certificates: string | undefined };

export interface Known {
  readonly dir: string;
  readonly remembered: Choice | undefined;
  /** There may be VMs already. */
  readonly bound: boolean;
}

export const DEFAULT_HOST = "unix:///var/run/docker.sock";

/** What is asked for, as far as the home lets one choose; else what it has; else sandboxes. */
export function selectCpi(
  asked: Asked,
  env: Readonly<Record<string, string | undefined>>,
  { dir, remembered, bound }: Known,
): CpiSelection {
  const given = asked.cpi === undefined ? undefined : nameOf(asked.cpi);
  if (bound && remembered !== undefined && given !== undefined && given !== remembered.cpi)
    throw OtherCpi({ dir, has: remembered.cpi, vms: WORDS[remembered.cpi].many, asked: given });
  const cpi = given ?? remembered?.cpi ?? "local";
  if (cpi === "docker") return engineOf(asked.dockerHost, env, remembered);
  if (asked.dockerHost !== undefined) throw NotForLocal({ option: "docker-host" });
  return { cpi };
}

function nameOf(given: string): CpiName {
  if (given !== "local" && given !== "docker") throw BadCpi({ given });
  return given;
}

/** By the variables of the `docker` CLI where no option says it. */
function engineOf(
  asked: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  remembered: Choice | undefined,
): CpiSelection {
  const before = remembered?.cpi === "docker" ? remembered : undefined;
  const host = asked ?? (env.DOCKER_HOST || before?.host || DEFAULT_HOST);
  const named =
    env.DOCKER_CERT_PATH || (env.DOCKER_TLS_VERIFY ? join(env.HOME || homedir(), ".docker") : undefined);
  const certificates = named ?? (host === before?.host ? before.certificates : undefined);
  const needed = !host.startsWith("unix:") && certificates !== undefined;
  return { cpi: "docker", host, certificates: needed ? resolve(certificates) : undefined };
}
