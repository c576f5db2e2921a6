import { spawn } from "node:child_process";
import { mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentControl } from "@slipway/certify/agent/control";
import { CannotTell } from "@slipway/certify/expect";
import { type Authority, openAuthority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { freePort, isTaken } from "@slipway/kernel/ports";
import type { Random } from "@slipway/kernel/random";
import { AgentDidNotStart } from "./errors.ts";

const HOST = "127.0.0.1";
const LISTENS_MS = 60_000;
const ENDS_MS = 10_000;
const LOOK_MS = 20;
const CERTIFICATE_DAYS = 2;

/** Names of the two empty disks that the checks write to. */
export const TEST_DISKS = ["disk-certify-old", "disk-certify-new"] as const;

export interface AgentUnderTestOptions {
  /** Executable of the agent, and its arguments beside those for settings and base directory. */
  readonly program: string;
  readonly args: readonly string[];
  /** Directory of its own; everything that the agent writes is below it. */
  readonly dir: string;
  readonly clock: Clock;
  readonly random: Random;
}

export interface AgentUnderTest {
  readonly mbus: string;
  readonly password: string;
  readonly baseDir: string;
  readonly ca: string;
  /** Certificate that the agent is asked to change to. */
  readonly next: { readonly cert: string; readonly key: string };
  /** Disks can be mounted: the agent has mounts of its own. */
  readonly hasMounts: boolean;
  readonly log: string;
  readonly control: AgentControl;
  stop(): Promise<void>;
}

/** Starts the agent over HTTPS, with settings in a file, and starts it again whenever it ends, as an init system does. */
export async function startAgentUnderTest(options: AgentUnderTestOptions): Promise<AgentUnderTest> {
  const { program, dir, clock, random } = options;
  const port = await freePort(random);
  const password = random.hex(16);
  const baseDir = join(dir, "vcap");
  const settings = join(dir, "settings.json");
  const log = join(dir, "agent.log");
  for (const made of [baseDir, ...TEST_DISKS.map((name) => join(dir, name))])
    await mkdir(made, { recursive: true });
  const authority = await openAuthority({ dir: join(dir, "pki"), clock, random });
  const [now, next] = [await certificate(authority), await certificate(authority)];
  const document = settingsOf({ port, password, baseDir, ...now });
  await writeFile(settings, JSON.stringify(document), { mode: 0o600 });
  await writeFile(join(dir, "agent.json"), JSON.stringify(configOf(settings)));
  const write = async (name: string, text: string) => {
    await writeFile(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const unshare = await unshareWords();
  const command = [...unshare, ...[program, "-C", join(dir, "agent.json"), "-b", baseDir], ...options.args];
  const process = await supervised(command, { log, clock });
  try {
    await listens(port, { program, log, process, clock });
  } catch (error) {
    await process.stop();
    throw error;
  }
  return {
    mbus: `https://agent@${HOST}:${port}`,
    password,
    baseDir,
    ca: await write("ca.pem", authority.ca),
    next: {
      cert: await write("next.pem", next.certificate),
      key: await write("next.key", next.privateKey),
    },
    hasMounts: unshare.length > 0,
    log,
    control: async (...deed) => {
      const [verb, what] = deed;
      if (verb === "restart" && what === "https") return await process.restart();
      if (verb === "source" && what === "away") return await rename(settings, `${settings}.away`);
      if (verb === "source" && what === "back") return await rename(`${settings}.away`, settings);
      throw new CannotTell(`needs a control that can do "${deed.join(" ")}"`);
    },
    stop: () => process.stop(),
  };
}

const certificate = (authority: Authority) =>
  authority.issue({
    commonName: "agent-under-test",
    sans: { dns: [], ips: [HOST] },
    usage: "server",
    days: CERTIFICATE_DAYS,
  });

const configOf = (settings: string) => ({
  Infrastructure: { Settings: { Sources: [{ Type: "File", SettingsPath: settings }] } },
  Platform: { Linux: { SkipDiskSetup: true } },
});

interface SettingsOf {
  readonly port: number;
  readonly password: string;
  readonly baseDir: string;
  readonly ca: string;
  readonly certificate: string;
  readonly privateKey: string;
}

const settingsOf = ({ port, password, baseDir, ca, certificate, privateKey }: SettingsOf) => ({
  agent_id: "agent-under-test",
  vm: { name: "vm-under-test" },
  mbus: `https://agent:${password}@${HOST}:${port}`,
  networks: { private: { type: "manual", ip: HOST, netmask: "255.0.0.0", preconfigured: true } },
  disks: { system: "", persistent: {} },
  env: { bosh: { mbus: { cert: { ca, certificate, private_key: privateKey } } } },
  blobstore: { provider: "local", options: { blobstore_path: join(baseDir, "blobs") } },
});

/** Returns the words that give the agent mounts of its own, which leave those of this machine alone; none if it cannot be. */
async function unshareWords(): Promise<readonly string[]> {
  const flags =
    process.getuid?.() === 0
      ? ["--mount", "--propagation", "private"]
      : ["--user", "--map-root-user", "--mount"];
  const tried = await systemExec("unshare", [...flags, "true"]).catch(() => undefined);
  return tried?.code === 0 ? ["unshare", ...flags] : [];
}

interface Supervised {
  /** Kills the agent; resolves when the next one was started. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  /** How often the agent ended without being asked to. */
  readonly ends: number;
}

async function supervised(
  command: readonly string[],
  { log, clock }: { readonly log: string; readonly clock: Clock },
): Promise<Supervised> {
  const [program = "", ...args] = command;
  const output = await open(log, "a");
  let wanted = true;
  let ends = 0;
  const begin = () => {
    const child = spawn(program, args, { stdio: ["ignore", output.fd, output.fd] });
    const gone = new Promise<void>((resolve) => {
      child.once("error", () => resolve());
      child.once("exit", () => resolve());
    });
    return { child, gone };
  };
  let running = begin();
  const watching = (async () => {
    while (wanted) {
      await running.gone;
      if (!wanted) break;
      ends++;
      await clock.sleep(LOOK_MS);
      if (wanted) running = begin();
    }
  })();
  return {
    get ends() {
      return ends;
    },
    restart: async () => {
      const before = running;
      before.child.kill("SIGKILL");
      while (running === before) await clock.sleep(LOOK_MS);
    },
    stop: async () => {
      wanted = false;
      const { child, gone } = running;
      child.kill("SIGTERM");
      const cancel = clock.after(ENDS_MS, () => void child.kill("SIGKILL"));
      await gone;
      cancel();
      await watching;
      await output.close();
    },
  };
}

/** An agent that ends this often before it listens will not come. */
const MOST_ENDS = 3;

async function listens(
  port: number,
  {
    program,
    log,
    process,
    clock,
  }: { readonly program: string; readonly log: string; readonly process: Supervised; readonly clock: Clock },
): Promise<void> {
  const giveUp = clock.monotonic() + LISTENS_MS;
  while (!(await isTaken(HOST, port))) {
    if (process.ends >= MOST_ENDS)
      throw AgentDidNotStart({ program, why: `it ended ${MOST_ENDS} times`, said: await endOf(log) });
    if (clock.monotonic() > giveUp)
      throw AgentDidNotStart({
        program,
        why: `it does not listen after ${LISTENS_MS / 1000} s`,
        said: await endOf(log),
      });
    await clock.sleep(LOOK_MS);
  }
}

/** Returns the last lines of what the agent wrote. */
const endOf = async (log: string): Promise<string> =>
  (await readFile(log, "utf8")).trimEnd().split("\n").slice(-3).join(" / ");
