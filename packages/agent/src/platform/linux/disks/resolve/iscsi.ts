import { mkdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { IscsiSettings } from "@slipway/protocol/settings/disk-hint";
import { HintUnusable, IscsiFailed } from "../../../disk-errors.ts";
import type { DiskContext } from "../context.ts";
import { type DiskIdentity, nameOf } from "../hint-target.ts";
import { attribute, entries } from "../sysfs.ts";
import { blockDevicesAt } from "./scsi.ts";
import type { Strategy } from "./strategy.ts";

/** open-iscsi's word for "already logged in". */
const SESSION_EXISTS = 15;

/**
 * Logs in to an iSCSI portal and takes the disks of that session: not, as upstream, whatever device appears next. A
 * portal that shows several disks is told apart by serial numbers, before this is asked, or refused as ambiguous.
 */
export const iscsiSession: Strategy = async (target, context) => {
  const settings = target.iscsi;
  if (settings === undefined) return undefined;
  mustBeUsable(target, settings);
  const tried = `iSCSI session with ${settings.target}`;
  const known = await sessionsWith(context, settings.target);
  if (known.length === 0) {
    await logIn(context, settings);
  } else {
    // The disk may have been added to a target we are logged in to.
    await context.exec("iscsiadm", ["-m", "session", "--rescan"]);
  }
  const sessions = await sessionsWith(context, settings.target);
  const devices = await Promise.all(sessions.map((session) => disksOf(context, session)));
  return { tried: `${tried} (${sessions.join(", ") || "not there yet"})`, devices: devices.flat() };
};

function mustBeUsable(target: DiskIdentity, settings: IscsiSettings): void {
  const refuse = (why: string) => HintUnusable({ disk: nameOf(target), why: `iscsi_settings: ${why}` });
  for (const key of ["initiatorName", "username", "password", "target"] as const) {
    if (settings[key] === "") throw refuse(`${key} is empty`);
    // They become lines of a configuration file.
    if (/[\r\n]/.test(settings[key])) throw refuse(`${key} has more than one line`);
  }
  if (!/^[A-Za-z0-9[][A-Za-z0-9.:[\]-]*$/.test(settings.target)) throw refuse("target is not an address");
}

async function logIn(context: DiskContext, settings: IscsiSettings): Promise<void> {
  const portal = settings.target;
  if (await writeConfiguration(context, settings)) {
    // A changed initiator name counts only from its start.
    await run(context, portal, "restarting iscsid", "systemctl", ["restart", "iscsid"]);
  }
  await run(context, portal, "discovery", "iscsiadm", ["-m", "discovery", "-t", "sendtargets", "-p", portal]);
  await run(context, portal, "login", "iscsiadm", ["-m", "node", "-p", portal, "--login"], [SESSION_EXISTS]);
}

/** The password goes through the file, as arguments of a program can be read by everybody. */
async function writeConfiguration(context: DiskContext, settings: IscsiSettings): Promise<boolean> {
  const auth = (prefix: string) => [
    `${prefix}.auth.authmethod = CHAP`,
    `${prefix}.auth.username = ${settings.username}`,
    `${prefix}.auth.password = ${settings.password}`,
  ];
  const configuration = [
    "# Written by slipway-agent",
    "node.startup = automatic",
    ...auth("node.session"),
    ...auth("discovery.sendtargets"),
    "node.session.timeo.replacement_timeout = 120",
    "node.conn[0].timeo.login_timeout = 15",
    "node.session.scan = auto",
    "",
  ].join("\n");
  const files: readonly (readonly [string, string])[] = [
    [
      context.paths.system("etc", "iscsi", "initiatorname.iscsi"),
      `InitiatorName=${settings.initiatorName}\n`,
    ],
    [context.paths.system("etc", "iscsi", "iscsid.conf"), configuration],
  ];
  let changed = false;
  for (const [path, content] of files) {
    if ((await attribute(path)) === content.trim()) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(path, content, 0o600);
    changed = true;
  }
  return changed;
}

async function run(
  context: DiskContext,
  target: string,
  step: string,
  program: string,
  args: readonly string[],
  alsoFine: readonly number[] = [],
): Promise<void> {
  const result = await context.exec(program, args);
  if (result.code === 0 || alsoFine.includes(result.code)) return;
  throw IscsiFailed({
    target,
    step,
    said: result.stderr.trim().slice(-500) || `${program} ended with ${result.code}`,
  });
}

/** Names of sessions whose connection goes to that portal. */
async function sessionsWith(context: DiskContext, portal: string): Promise<readonly string[]> {
  const address = portal.replace(/:\d+$/, "").replaceAll(/[[\]]/g, "");
  const connections = context.paths.system("sys", "class", "iscsi_connection");
  const sessions = new Set<string>();
  for (const name of await entries(connections)) {
    const id = /^connection(\d+):\d+$/.exec(name)?.[1];
    if (id === undefined) continue;
    const addresses = await Promise.all(
      ["persistent_address", "address"].map((file) => attribute(join(connections, name, file))),
    );
    if (addresses.includes(address)) sessions.add(`session${id}`);
  }
  return [...sessions];
}

async function disksOf(context: DiskContext, session: string): Promise<readonly string[]> {
  const device = context.paths.system("sys", "class", "iscsi_session", session, "device");
  const place = await realpath(device).catch(() => undefined);
  if (place === undefined) return [];
  const scsi = context.paths.system("sys", "bus", "scsi", "devices");
  const devices: string[] = [];
  for (const address of await entries(scsi)) {
    if (!/^\d+:\d+:\d+:\d+$/.test(address)) continue;
    const at = await realpath(join(scsi, address));
    if (at.startsWith(`${place}/`)) devices.push(...(await blockDevicesAt(context, address)));
  }
  return devices;
}
