import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { errorText, toError } from "@slipway/kernel/errors";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { makePlatform, platformNamed } from "./bootstrap/choose-platform.ts";
import { readConfig } from "./config.ts";
import { type Log, lineLog } from "./log.ts";
import { pathsUnder } from "./paths.ts";
import { type AgentEnding, runAgent } from "./run-agent.ts";
import { BadUsage } from "./settings/errors.ts";
import { chooseSupervisor } from "./supervisor/choose.ts";

export interface ProgramIo {
  readonly out: { write(text: string): unknown };
  readonly err: { write(text: string): unknown };
  /** Aborted when the program is asked to end. */
  readonly stop: AbortSignal;
}

/** The same as in package.json; a test compares them. */
export const VERSION = "0.1.0";

const HELP = `slipway-agent: runs in every VM, does what a BOSH Director or create-env asks of it

  slipway-agent --config FILE      run until SIGTERM or SIGINT
  slipway-agent --help             print this
  slipway-agent --version          print the version

  -C, --config FILE      agent.json; <base>/bosh/agent.json when left out
  -b, --base-dir DIR     where everything is kept; /var/vcap
  -P, --platform NAME    linux (also: ubuntu, centos, rhel, opensuse) or namespace; linux
  -M, --supervisor NAME  who runs the jobs: builtin, or monit through its HTTP interface; monit where the stemcell
                         has <base>/bosh/etc/monitrc, builtin elsewhere

FILE is JSON with the keys of upstream's agent.json:

  {
    "Infrastructure": {"Settings": {"Sources": [
      {"Type": "File", "SettingsPath": "/var/vcap/bosh/env.json"},
      {"Type": "RawDisk", "Serial": "bosh-settings"},
      {"Type": "ConfigDrive", "DiskPaths": ["/dev/disk/by-label/config-2"],
       "UserDataPath": "ec2/latest/user-data", "MetaDataPath": "ec2/latest/meta-data.json"},
      {"Type": "CDROM", "FileName": "env"},
      {"Type": "HTTP", "URI": "http://169.254.169.254", "UserDataPath": "/latest/user-data",
       "InstanceIDPath": "/latest/meta-data/instance-id", "TokenPath": "/latest/api/token",
       "SSHKeysPath": "/latest/meta-data/public-keys/0/openssh-key", "Headers": {}},
      {"Type": "InstanceMetadata", "URI": "...", "SettingsPath": "...", "Headers": {}}
    ]}},
    "Platform": {"Linux": {"DevicePathResolutionType": "virtio"}}
  }

Sources are tried in their order; the first that has settings is used. RawDisk is ours, the others are upstream's.

Exit codes: 0 restart asked for (start it again), 1 failed or ended by a signal, 2 called wrongly,
3 a sandbox (namespace) is to be powered off.
`;

/** Runs the program; resolves to its exit code. */
export async function run(argv: readonly string[], io: ProgramIo): Promise<number> {
  try {
    const flags = flagsOf(argv);
    if (flags.help) io.out.write(HELP);
    else if (flags.version) io.out.write(`slipway-agent ${VERSION}\n`);
    else return await serve(flags, io);
    return 0;
  } catch (error) {
    io.err.write(`${errorText(error)}\n`);
    return BadUsage.is(error) ? 2 : 1;
  }
}

interface Flags {
  readonly config?: string;
  readonly "base-dir"?: string;
  readonly platform?: string;
  readonly supervisor?: string;
  readonly help?: boolean;
  readonly version?: boolean;
}

function flagsOf(argv: readonly string[]): Flags {
  try {
    const options = {
      config: { type: "string", short: "C" },
      "base-dir": { type: "string", short: "b" },
      platform: { type: "string", short: "P" },
      supervisor: { type: "string", short: "M" },
      help: { type: "boolean", short: "h" },
      version: { type: "boolean", short: "v" },
    } as const;
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw BadUsage({ why: toError(error).message });
  }
}

async function serve(flags: Flags, io: ProgramIo): Promise<number> {
  const name = platformNamed(flags.platform ?? "linux");
  const paths = pathsUnder(flags["base-dir"] ?? "/var/vcap");
  const supervisor = await chooseSupervisor(flags.supervisor, paths);
  const config = await readConfig(flags.config ?? join(paths.boshDir, "agent.json"));
  const log = lineLog(systemClock, (line) => io.out.write(line));
  const tools = { paths, exec: systemExec, clock: systemClock, random: systemRandom, log };
  log.info(`slipway-agent ${VERSION} (process ${process.pid}) on ${name}, base ${paths.base}`);
  log.info(
    `jobs are run by ${supervisor.kind === "monit" ? `monit (${supervisor.control})` : "the agent itself"}`,
  );

  const off = new AbortController();
  const powerOff = async () => off.abort();
  const platform = await makePlatform(name, { ...tools, config: config.Platform?.Linux ?? {}, powerOff });
  const { ACTIONS } = await import("./actions/table.ts");
  const { transportForUrl } = await import("./transports/for-url.ts");
  const { blobDirectory } = await import("./transports/blob-directory.ts");
  const ending = await runAgent({
    ...tools,
    config,
    platform,
    actions: ACTIONS,
    supervisor,
    makeTransport: ({ clientCa, ...address }) =>
      transportForUrl({
        ...tools,
        ...address,
        ...(clientCa !== undefined && { clientCa }),
        blobs: blobDirectory(paths.blobs, tools.random),
      }),
    stop: AbortSignal.any([io.stop, off.signal]),
  });
  return exitCode(ending, off.signal.aborted, log);
}

function exitCode(ending: AgentEnding, poweredOff: boolean, log: Log): number {
  if (ending.kind === "restart") {
    log.info(`ended to be started again: ${ending.why}`);
    return 0;
  }
  log.info(poweredOff ? "ended: the sandbox is to be powered off" : "ended by a signal");
  return poweredOff ? 3 : 1;
}
