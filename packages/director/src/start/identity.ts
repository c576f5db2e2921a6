import { createHash } from "node:crypto";
import type { AgentSecret } from "@slipway/engine/agents/credentials";
import type { Authority } from "@slipway/engine/pki/authority";
import { defineError } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import { changeIdentity, dependedOn, knownIdentities } from "../store/identities.ts";
import type { Db } from "../store/schema.ts";

export const OtherCpi = defineError<{ was: string; now: string }>({
  code: "DIR-008",
  kind: "operator",
  message: (p) =>
    `the VMs, disks or stemcells of this Director belong to the CPI ${p.was}, and the configuration has ${p.now}; nothing was changed`,
  next: "Start the Director with the configuration it had (`--config FILE`). If the new one manages the same cloud, such as the same CPI at another path, start it once with `--accept cpi`.",
});

export const OtherKeys = defineError<{ file: string }>({
  code: "DIR-009",
  kind: "operator",
  message: (p) =>
    `\`${p.file}\` of the state directory is not the one that the VMs of this database were made with; nothing was changed`,
  next: "Restore it from a backup. Directors that share a database have the same `secrets.key`, `agent-secret` and `pki` in their state directories. If it is lost for good, start the Director once with `--accept keys` and recreate every VM.",
});

export const UsersGone = defineError<Record<never, never>>({
  code: "DIR-010",
  kind: "operator",
  message: () =>
    "this Director had `users` in its configuration, and now has none: the API would be open to the generated user `admin`",
  next: "Start the Director with the configuration it had (`--config FILE`). To have the generated user instead, start it once with `--accept users`.",
});

export const OtherName = defineError<{ was: string; now: string }>({
  code: "DIR-011",
  kind: "operator",
  message: (p) =>
    `this Director was called ${p.was} and is now called ${p.now}: its variables belong to the name, and deployments would get new passwords and certificates`,
  next: "Start the Director with the configuration it had (`--config FILE`), or set `name` to {was}. To rename it on purpose, start it once with `--accept name`.",
});

export const BadAccept = defineError<{ given: string; known: string }>({
  code: "DIR-012",
  kind: "operator",
  typed: true,
  message: (p) => `--accept takes a list of ${p.known}, got '${p.given}'`,
  next: "Name what was changed on purpose, such as `--accept cpi`.",
});

/** Settings that an operator may change on purpose, with `--accept`. */
export const ACCEPTABLE = ["cpi", "keys", "users", "name"] as const;
export type Acceptable = (typeof ACCEPTABLE)[number];

/** Reads the value of `--accept`, a list with commas. */
export function acceptedIn(text: string | undefined): readonly Acceptable[] {
  return (text?.split(",") ?? []).map((word) => {
    const found = ACCEPTABLE.find((one) => one === word.trim());
    if (found === undefined) throw BadAccept({ given: word.trim(), known: ACCEPTABLE.join(", ") });
    return found;
  });
}

const inProcess = v.strictObject({ kind: v.literal("in-process"), name: v.string() });
const executable = v.strictObject({
  kind: v.literal("executable"),
  /** Value of `cpi.name`; null if the configuration does not have it. */
  name: v.nullable(v.string()),
  path: v.string(),
  config: v.nullable(v.string()),
});
const cpiIdentity = v.variant("kind", [inProcess, executable]);
type CpiIdentity = v.InferOutput<typeof cpiIdentity>;

/** Returns the identity of the Director's own CPI, as far as the configuration has it; undefined without a CPI. */
function cpiIdentityOf({ config: { cpi }, embeddedCpi }: Identity): CpiIdentity | undefined {
  if (cpi?.exec_path !== undefined)
    return {
      kind: "executable",
      name: cpi.name ?? null,
      path: cpi.exec_path,
      config: cpi.config_file ?? null,
    };
  return embeddedCpi && { kind: "in-process", name: embeddedCpi.name };
}

/** An executable that has a name is known by it, wherever it is; one without by its path and its configuration file. */
function isSameCpi(a: CpiIdentity, b: CpiIdentity): boolean {
  if (a.kind === "in-process" || b.kind === "in-process") return a.kind === b.kind && a.name === b.name;
  if (a.name !== null && b.name !== null) return a.name === b.name;
  return a.path === b.path && a.config === b.config;
}

function cpiText(cpi: CpiIdentity): string {
  if (cpi.kind === "in-process") return `${cpi.name}, in the Director's process`;
  const config = cpi.config === null ? "" : ` with ${cpi.config}`;
  return `${cpi.name === null ? "" : `${cpi.name}, `}${cpi.path}${config}`;
}

export interface Identity {
  readonly config: DirectorConfig;
  /** The CPI in this process, used if the configuration names no executable. */
  readonly embeddedCpi: { readonly name: string } | undefined;
  readonly authority: Authority;
  readonly secret: AgentSecret;
  readonly name: string;
}

/**
 * Refuses to work on a database with another CPI, other keys, the generated user in place of configured ones, or another
 * name than before, unless the change is accepted or nothing recorded depends on it. The first start notes what it has.
 */
export async function checkIdentity(
  db: Db,
  now: Identity,
  accepted: readonly Acceptable[] = [],
): Promise<void> {
  const cpi = cpiIdentityOf(now);
  const values = {
    ...(cpi !== undefined && { cpi: JSON.stringify(cpi) }),
    "pki/authority.pem": createHash("sha256").update(now.authority.ca).digest("hex"),
    "agent-secret": now.secret.proof,
    users: isConfigured(now.config.users) ? "configured" : "generated",
    name: now.name,
  };
  const known = await knownIdentities(db, values);
  const changed = Object.entries(values).filter(([name, value]) => known.get(name) !== value);
  if (changed.length === 0) return;
  const needed = await dependedOn(db);
  for (const [name, value] of changed) {
    const refusal = refusalOf(name, known.get(name) ?? "", value, needed);
    if (refusal !== undefined && !accepted.includes(refusal.accept)) throw refusal.error;
  }
  for (const [name, value] of changed) await changeIdentity(db, name, value);
}

const isConfigured = (users: DirectorConfig["users"]): boolean => (users?.length ?? 0) > 0;

/** Refuses a configuration without users for a Director that was started with some. */
export function mustKeepUsers(started: DirectorConfig, changed: DirectorConfig): void {
  if (isConfigured(started.users) && !isConfigured(changed.users)) throw UsersGone({});
}

function refusalOf(
  name: string,
  before: string,
  value: string,
  needed: Awaited<ReturnType<typeof dependedOn>>,
): { readonly accept: Acceptable; readonly error: Error } | undefined {
  if (name === "users") return value === "generated" ? { accept: "users", error: UsersGone({}) } : undefined;
  if (name === "name")
    return needed.name ? { accept: "name", error: OtherName({ was: before, now: value }) } : undefined;
  if (name !== "cpi") return needed.keys ? { accept: "keys", error: OtherKeys({ file: name }) } : undefined;
  const [was, now] = [readCpi(before), readCpi(value)];
  if (!needed.cpi || isSameCpi(was, now)) return undefined;
  return { accept: "cpi", error: OtherCpi({ was: cpiText(was), now: cpiText(now) }) };
}

function readCpi(text: string): CpiIdentity {
  const checked = check(cpiIdentity, parseStrictJson(text, "identity"), "cpi");
  if (!checked.ok) throw new Error(`bug: the CPI of this database is not as it was written: ${text}`);
  return checked.value;
}
