import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { vmCreationFailed } from "@slipway/cpi-sdk/errors";

export const exists = async (path: string): Promise<boolean> =>
  (await access(path).catch(() => "no")) !== "no";

/** A boot of the machine and a start time tell a process from another with the same number. */
async function identityOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie has ended.
  return fields[0] === "Z" ? undefined : `${boot} ${fields[19]}`;
}

async function running(vm: string): Promise<number | undefined> {
  const [pid = "", ...identity] = (await readFile(join(vm, "process"), "utf8").catch(() => ""))
    .trim()
    .split(" ");
  if (pid === "" || (await identityOf(Number(pid))) !== identity.join(" ")) return undefined;
  return Number(pid);
}

/** Starts the agent in mounts of its own, so that it may bind a disk to its /var/vcap/store. It outlives this call. */
export async function startVm(vm: string, agent: string): Promise<number> {
  const before = await running(vm);
  if (before !== undefined) return before;
  await writeFile(
    join(vm, "agent.json"),
    JSON.stringify({
      Infrastructure: { Settings: { Sources: [{ Type: "File", SettingsPath: join(vm, "user-data.json") }] } },
    }),
  );
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  // The agent ends with 0 to be started again.
  const loop = 'while "$@"; do :; done';
  const log = await open(join(vm, "agent.log"), "a", 0o600);
  try {
    const base = join(vm, "vcap");
    const command = [process.execPath, agent, "-C", join(vm, "agent.json"), "-b", base, "-P", "namespace"];
    const child = spawn(
      "unshare",
      [...user, "--mount", "--fork", "--pid", "--kill-child", "sh", "-c", loop, "sh", ...command],
      {
        cwd: "/",
        detached: true,
        stdio: ["ignore", log.fd, log.fd],
      },
    );
    await once(child, "spawn");
    child.unref();
    const pid = child.pid ?? 0;
    const identity = await identityOf(pid);
    if (identity === undefined)
      throw vmCreationFailed(`its process ended at once; see ${join(vm, "agent.log")}`);
    await writeFile(join(vm, "process"), `${pid} ${identity}\n`);
    return pid;
  } finally {
    await log.close();
  }
}

/** Ends it with all it has started: its first process is the only one that holds the others. */
export async function endVm(vm: string): Promise<void> {
  for (;;) {
    const pid = await running(vm);
    if (pid === undefined) return;
    process.kill(pid, "SIGKILL");
    await sleep(20);
  }
}
