import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Ends what a failed story has left running below a directory: VMs, and the database of a Director that was killed. */
export async function endLeftovers(stateDir: string, vmsDir: string): Promise<void> {
  for (const vm of await readdir(vmsDir).catch(() => []))
    await endIfOurs(join(vmsDir, vm, "pid"), join(vmsDir, vm, "agent.json"), -1);
  const data = join(stateDir, "database", "data");
  await endIfOurs(join(data, "postmaster.pid"), data, 1);
}

/** Whose command line names the file; the number alone may be anybody's by now. */
async function endIfOurs(pidFile: string, names: string, group: 1 | -1): Promise<void> {
  const [first = ""] = (await readFile(pidFile, "utf8").catch(() => "")).split("\n");
  const pid = Number(first);
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  if (!command.split("\0").includes(names)) return;
  try {
    process.kill(group * pid, group === 1 ? "SIGQUIT" : "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
