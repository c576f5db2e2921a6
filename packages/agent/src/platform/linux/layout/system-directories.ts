import { access, lchown, readdir } from "node:fs/promises";
import { join } from "node:path";
import { mustRun } from "@slipway/kernel/exec";
import { setFlags } from "../disks/bind.ts";
import type { DiskContext } from "../disks/context.ts";
import { mountAt, mountTable } from "../disks/mounts.ts";
import { accounts } from "../system/accounts.ts";
import { boundOver } from "./bound.ts";
import { ownedDirectory, ownedFile } from "./owned.ts";

const NO_PROGRAMS = ["nodev", "nosuid", "noexec"];

/** Shared memory, `/var/log`, `/var/opt` and `/opt`, in upstream's order, modes and flags. */
export async function setUpSystemDirectories(context: DiskContext): Promise<void> {
  await protectSharedMemory(context);
  await setUpLogs(context);
  for (const [name, place] of [
    ["root_var_opt", ["var", "opt"]],
    ["root_opt", ["opt"]],
  ] as const)
    await setUpOpt(context, join(context.paths.data, name), context.paths.system(...place));
}

async function protectSharedMemory(context: DiskContext): Promise<void> {
  for (const place of [
    ["dev", "shm"],
    ["run", "shm"],
  ]) {
    const target = context.paths.system(...place);
    if (mountAt(await mountTable(context.paths), target) === undefined) continue;
    await setFlags(context, target, target, NO_PROGRAMS);
  }
}

/** Logs belong on the ephemeral disk: on the small root disk they would fill it. */
async function setUpLogs(context: DiskContext): Promise<void> {
  const { paths } = context;
  const logs = join(paths.data, "root_log");
  await ownedDirectory(paths, logs, 0o771, "syslog");
  await ownedDirectory(paths, join(logs, "audit"), 0o750);
  await ownedDirectory(paths, join(logs, "sysstat"), 0o755);
  await ownedFile(paths, join(logs, "btmp"), 0o600, "utmp");
  await ownedFile(paths, join(logs, "wtmp"), 0o664, "utmp");
  await ownedFile(paths, join(logs, "lastlog"), 0o664, "utmp");
  const chrony = (await accounts(paths)).find(({ name }) => name === "_chrony");
  if (chrony !== undefined) {
    await ownedDirectory(paths, join(logs, "chrony"), 0o700);
    await lchown(join(logs, "chrony"), chrony.uid, chrony.gid);
  }
  await boundOver(context, logs, paths.system("var", "log"), NO_PROGRAMS);
}

/** Programs are run from there. An image that has some of its own there keeps them: hidden, they would be missed. */
async function setUpOpt(context: DiskContext, source: string, target: string): Promise<void> {
  const { paths, log } = context;
  await ownedDirectory(paths, source, 0o755);
  const mounted = mountAt(await mountTable(paths), target) !== undefined;
  const found = mounted ? [] : await readdir(target).catch(() => []);
  if (found.length > 0) {
    log.warn(`${target} stays on the root disk: the image has ${found.slice(0, 3).join(", ")} in it`);
    return;
  }
  await boundOver(context, source, target, ["nodev"]);
}

/** The stemcell's own program; a machine without it has nothing to start. */
export async function startLogging({ paths, exec }: DiskContext): Promise<void> {
  const program = join(paths.boshDir, "bin", "bosh-start-logging-and-auditing");
  const present = await access(program).then(
    () => true,
    () => false,
  );
  if (present) await mustRun(exec, "starting logging and auditing", program, []);
}
