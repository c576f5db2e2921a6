import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import type { Log } from "../../../log.ts";
import type { Paths } from "../../../paths.ts";
import { writeIfChanged } from "./replace-file.ts";

const PATIENCE_MS = 60_000;

/** The file that the stemcell's `sync-time` reads. No servers: what the stemcell has stays. */
export async function writeNtpServers(paths: Paths, servers: readonly string[], log: Log): Promise<boolean> {
  const usable = servers.filter((server) => /^[A-Za-z0-9._:-]{1,253}$/.test(server));
  if (usable.length < servers.length)
    log.warn("NTP servers that are neither names nor addresses are left out");
  if (usable.length === 0) return false;
  const file = join(paths.boshDir, "etc", "ntpserver");
  await mkdir(join(paths.boshDir, "etc"), { recursive: true, mode: 0o755 });
  await writeIfChanged(file, usable.join(" "), 0o644);
  return true;
}

/** Best effort: a VM without time servers in reach must start all the same. */
export async function syncTime(paths: Paths, exec: Exec, clock: Clock, log: Log): Promise<void> {
  const program = join(paths.boshDir, "bin", "sync-time");
  const present = await access(program).then(
    () => true,
    () => false,
  );
  if (!present) return;
  try {
    await withDeadline("sync-time", PATIENCE_MS, clock, undefined, (signal) =>
      mustRun(exec, "synchronizing the time", program, [], { signal }),
    );
  } catch (error) {
    log.warn(`the time is not synchronized: ${messageTrail(error)}`);
  }
}
