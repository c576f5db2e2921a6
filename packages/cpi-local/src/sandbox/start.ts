import { spawn } from "node:child_process";
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { notStarted } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import { ownIdentity, type ProcessIdentity } from "@slipway/kernel/process-identity";
import { LOG_LIMIT, LOG_LIMIT_VARIABLE } from "@slipway/kernel/resilient-output";
import { NamespacesRefused, SandboxDidNotStart } from "../errors.ts";
import { directoryOf, type LocalCloud, locked } from "../local-cloud.ts";
import { userFlags } from "../namespaces.ts";
import { probeNamespaces } from "../probe.ts";
import { readRecord, type SandboxRecord } from "../vm-record.ts";
import { mustBeFree } from "./free-addresses.ts";
import { runningIn } from "./identity.ts";
import { IDS, INSIDE, LOOP } from "./inside.ts";
import { firstIdOf } from "./remap.ts";
import { INIT, outer, ROOT } from "./scripts.ts";
import { endSandbox } from "./stop.ts";

const STARTS_WITHIN_MS = 60_000;
const SAYS_ITSELF_WITHIN_MS = 10_000;
const POLL_MS = 4;

/** Starts a sandbox, which lives on after its CPI. One that runs is left alone. */
export async function startSandbox(cloud: LocalCloud, vmDir: string, cid: string): Promise<ProcessIdentity> {
  const running = await runningIn(vmDir);
  if (running !== undefined && (await isSetUp(cloud, vmDir))) return running;
  // A start whose CPI has ended may still be under way: from here on it cannot say who it is any more.
  await endSandbox(cloud, vmDir, cid);
  const record = await readRecord(vmDir);
  const log = join(vmDir, "agent.log");
  const before = await stat(log).then(
    ({ size }) => size,
    () => 0,
  );
  try {
    // No other sandbox may take its addresses until it is seen that it has them.
    const init = await locked(cloud, "addresses", async () => {
      await mustBeFree(cloud, cid, record);
      return await launch(cloud, vmDir, record);
    });
    if (init !== undefined && (await isSetUp(cloud, vmDir))) return init;
  } catch (error) {
    await endSandbox(cloud, vmDir, cid);
    throw error;
  }
  await endSandbox(cloud, vmDir, cid);
  const seen = await probeNamespaces(cloud);
  if (!seen.ok) throw NamespacesRefused(seen);
  const said = (await readFile(log)).subarray(before).toString("utf8").trim().slice(-800);
  throw SandboxDidNotStart({ cid, said: said || "nothing" });
}

/** Undefined if it ended before it could say who it is. */
async function launch(
  cloud: LocalCloud,
  vmDir: string,
  record: SandboxRecord,
): Promise<ProcessIdentity | undefined> {
  await mkdir(join(vmDir, "starting"), { mode: 0o700 });
  const self = ownIdentity();
  const user = await userFlags(cloud);
  const net = record.ownNetwork ? "--net" : "";
  const args = [
    ...[INIT, "sandbox", vmDir, cloud.random.hex(8), self.boot, self.namespace],
    directoryOf(cloud, "disks"),
    ...[ROOT, "sandbox", vmDir, cloud.dir, record.stemcell ?? "", cloud.agent, process.execPath],
    ...[user.length === 0 ? "" : "user", net, IDS, INSIDE, LOOP, String(firstIdOf(basename(vmDir)))],
    ...[...cloud.hidden, "--", ...cloud.shared],
  ];
  // The cgroup namespace belongs to the user namespace outside, so nothing in the sandbox may mount what it shows.
  const cgroup = (await exists("/proc/self/ns/cgroup")) ? ["--cgroup"] : [];
  const flags = [...user, "--mount", "--pid", "--ipc", ...cgroup, "--propagation", "private"];
  // Readable, so that the agent can keep it short while it is written to.
  const log = await open(join(vmDir, "agent.log"), "a+", 0o600);
  let failed = false;
  try {
    const child = spawn("unshare", [...flags, "sh", "-s", "sandbox", vmDir], {
      cwd: "/",
      env: {
        PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        LANG: "C.UTF-8",
        [LOG_LIMIT_VARIABLE]: String(LOG_LIMIT),
      },
      detached: true,
      stdio: ["pipe", log.fd, log.fd],
    });
    // A start that ends before it has read all says so by its code.
    child.stdin?.on("error", () => {}).end(outer(args));
    child.once("exit", (code) => {
      failed = code !== 0;
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) => reject(notStarted("unshare", cause)));
    });
    child.unref();
  } finally {
    await log.close();
  }
  const since = cloud.clock.monotonic();
  while (!failed && cloud.clock.monotonic() - since < SAYS_ITSELF_WITHIN_MS) {
    // Recorded and not running: it has ended by now.
    if (await exists(join(vmDir, "process"))) return await runningIn(vmDir);
    await cloud.clock.sleep(POLL_MS);
  }
  return undefined;
}

/** Waits until the sandbox has started its agent; false if it ends or takes too long. */
async function isSetUp(cloud: LocalCloud, vmDir: string): Promise<boolean> {
  const since = cloud.clock.monotonic();
  while (cloud.clock.monotonic() - since < STARTS_WITHIN_MS) {
    const said = await readFile(join(vmDir, "starting", "ready"), "utf8").catch(() => "");
    if (said !== "") return true;
    if ((await runningIn(vmDir)) === undefined) return false;
    await cloud.clock.sleep(POLL_MS);
  }
  return false;
}
