import { spawn } from "node:child_process";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cloudError } from "@slipway/cpi-sdk/errors";
import { systemClock } from "@slipway/kernel/clock";

/** Mounts of its own, so that a disk is mounted for this VM alone and unmounted with its end. */
const OWN_MOUNTS =
  process.getuid?.() === 0
    ? ["--mount", "--propagation", "private"]
    : ["--user", "--map-root-user", "--mount", "--propagation", "private"];

/**
 * The VM's init: says who it is before it does anything, so that no crash of the CPI can lose it, and starts the agent
 * again for as long as that ends with 0.
 */
const INIT = 'echo $$ > "$1.new" && mv "$1.new" "$1" && shift && while "$@"; do :; done';

const STARTS_WITHIN_MS = 10_000;

/** Starts the process of a VM, which lives on after its CPI. */
export async function startProcess(dir: string, agent: string): Promise<number> {
  const running = await processOf(dir);
  if (running !== undefined) return running;
  await rm(join(dir, "pid"), { force: true });
  const log = await open(join(dir, "agent.log"), "a", 0o600);
  try {
    const flags = ["-C", join(dir, "agent.json"), "-b", join(dir, "vcap"), "-P", "namespace"];
    const command = ["sh", "-c", INIT, "vm", join(dir, "pid"), process.execPath, agent, ...flags];
    const child = spawn("unshare", [...OWN_MOUNTS, ...command], {
      cwd: "/",
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8" },
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    let over = false;
    child.once("exit", () => {
      over = true;
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) => reject(cloudError("the program unshare cannot be started", { cause })));
    });
    child.unref();
    for (let waited = 0; waited < STARTS_WITHIN_MS && !over; waited += 10) {
      const pid = await processOf(dir);
      if (pid !== undefined) return pid;
      await systemClock.sleep(10);
    }
  } finally {
    await log.close();
  }
  const said = (await readFile(join(dir, "agent.log"), "utf8")).trim().slice(-500);
  throw cloudError(`the process of the VM did not start; it said: ${said || "nothing"}`);
}

/** Ends the process of a VM and everything in its group. */
export async function endProcess(dir: string): Promise<void> {
  for (let wait = 1; ; wait = Math.min(wait * 2, 100)) {
    const pid = await processOf(dir);
    if (pid === undefined) break;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It ended by itself in this moment.
    }
    await systemClock.sleep(wait);
  }
  await rm(join(dir, "pid"), { force: true });
}

/** The pid, if it is alive and really this VM's: a number may have been given to another process since. */
async function processOf(dir: string): Promise<number | undefined> {
  const pid = Number(await readFile(join(dir, "pid"), "utf8").catch(() => ""));
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return command.split("\0").includes(join(dir, "agent.json")) ? pid : undefined;
}
