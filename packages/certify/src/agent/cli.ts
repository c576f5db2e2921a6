import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { errorText, messageTrail } from "@slipway/kernel/errors";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { BadUsage, NobodyThere } from "../errors.ts";
import type { MatrixIo } from "../matrix/cli.ts";
import { REPORT_FILES, writeReports } from "../report/write-reports.ts";
import { BusClient, type PemPair } from "./bus-client.ts";
import { type CheckContext, type CheckDisk, labelOf } from "./check.ts";
import { AgentClient } from "./client.ts";
import { type AgentControl, commandControl } from "./control.ts";
import { agentReceipt } from "./receipt.ts";
import { pong } from "./restart-checks.ts";
import type { AgentRuleId } from "./rules.ts";
import { ALL_CHECKS, isPassed, outcomeTable, runChecks } from "./run.ts";

const HELP = `Checks an agent from outside: over HTTPS, over NATS, or one agent over each.

  agent-conformance --ca FILE [--mbus https://USER@HOST:PORT] [--nats nats://HOST:PORT ...] [...]

  --ca        PEM of the authority that signed the certificates of agent and NATS server
  --mbus      where the agent listens; the password comes from AGENT_MBUS_PASSWORD
  --nats      the bus of an agent that may be started after this program; it is waited for
    --agent-id               whom to talk to there
    --nats-cert, --nats-key  PEM files of the Director, who may ask
    --hm-cert, --hm-key      PEM files of the Health Monitor, who may listen
    --heartbeats             wait for a second heartbeat as well
  --base-dir  the agent's /var/vcap, if it can be read from here
              The checks of jobs need it, at the same path as the agent sees it. Jobs are run, and removed again
    --nats-base-dir          the same of the agent on NATS
  --disk      an attached, empty disk nobody needs, with its hint as JSON; give two
  --image-disk  an attached disk that the control formats and enlarges; the agent's settings ask for ext4, the default
  --network   a network of the agent's settings (default: private)
  --machine   the agent's machine is this one and may be changed: its trusted certificates, links to its disks
    --certificates           where it keeps trusted certificates (default: /usr/local/share/ca-certificates)
  --control   a program and its first arguments, as a JSON array of strings; it is run with the words of what to do:
                restart https, restart nats     end the agent at once, unmount what it had mounted, start it again
                source away, source back        what the agent over HTTPS reads its settings from
                bus stop, bus start             the NATS server
                bus impostor                    instead of it, one with a valid certificate of another name
                disk xfs, disk enlarge          put XFS and a file on the image disk; make it twice as large
                disk kept, disk grown           see whether both are there; whether the file system grew
                story create-env, story director  all that bosh create-env, or a Director, asks of an agent
              It exits 0 when that is done, 3 when it cannot do it. An agent that ends by itself must be started again.
    --next-cert, --next-key  PEM files of what the agent's certificate is replaced by, for good
  --differs   RULE=WHY: a rule that the agent breaks by decision; it is checked, and listed apart. May be repeated
  --only      RULE: checks this rule, such as AGENT-DISK-001, and no other. May be repeated
  --report    directory for the receipt, JUnit XML, an HTML page and a badge
    --agent                  the agent's executable, whose digest the receipt has
    --seed                   text that the receipt repeats, such as the build's number
  --no-nats, --no-image-disk  why there is none, for the list of what was not run
  --all       a check that was not run is a failure, too

Exit code 0 if no check failed.
`;

const AGENT_STARTS_MS = 60_000;

/** Returns the exit code. */
export async function conformanceCommand(
  argv: readonly string[],
  password: string,
  io: MatrixIo,
  given: { readonly control?: AgentControl } = {},
): Promise<number> {
  let bus: BusClient | undefined;
  try {
    const flags = flagsOf(argv);
    if (flags.help) {
      io.out(HELP);
      return 0;
    }
    const ca = read(flags, "ca");
    const https = httpsOf(flags, ca, password);
    const context = contextOf(flags, ca, https, given.control);
    const subject = subjectOf(flags);
    await https?.send("ping").catch((cause: unknown) => {
      throw nobody("agent", flags.mbus, cause);
    });
    // It listens before it has started, and answers with what it waits for. Without a pong the checks say why.
    if (https !== undefined) await pong(https, AGENT_STARTS_MS);
    bus = await busOf(flags, ca).catch((cause: unknown) => {
      throw BadUsage.is(cause) ? cause : nobody("NATS server", flags.nats, cause);
    });
    if (bus !== undefined) {
      io.err(`waiting for agent ${bus.agentId} on NATS\n`);
      await bus.arrived(AGENT_STARTS_MS).catch((cause: unknown) => {
        throw nobody(`agent ${flags["agent-id"]}`, flags.nats, cause);
      });
    }
    const agent = https ?? bus;
    if (agent === undefined) throw BadUsage({ why: "--mbus or --nats is needed" });
    const outcomes = await runChecks({ ...context, agent, nats: bus });
    io.out(outcomeTable(outcomes));
    if (subject !== undefined) {
      const receipt = await agentReceipt({ outcomes, agent, subject, flags, clock: systemClock });
      await writeReports(subject.report, receipt);
      io.out(
        `\nThe receipt is ${join(subject.report, REPORT_FILES.receipt)}, the page ${REPORT_FILES.html} beside it.\n`,
      );
    }
    return isPassed(outcomes, flags.all ?? false) ? 0 : 1;
  } catch (error) {
    // One line: every check would say the same.
    if (NobodyThere.is(error)) io.err(`${error.code} ${error.message}. ${error.next}\n`);
    else io.err(`${errorText(error)}\n`);
    return 2;
  } finally {
    await bus?.close();
  }
}

type Flags = ReturnType<typeof flagsOf>;

/** The password is not in the flags, so the address may be shown. */
const nobody = (who: string, where: string | undefined, cause: unknown) =>
  NobodyThere({ who, where: where ?? "", why: messageTrail(cause) }, { cause });

/** Everything but the agents, which are talked to only when the command line is understood. */
function contextOf(
  flags: Flags,
  ca: string,
  https: AgentClient | undefined,
  control: AgentControl | undefined,
): Omit<CheckContext, "agent" | "nats"> {
  const [first, second] = (flags.disk ?? []).map(diskOf);
  return {
    https,
    baseDir: flags["base-dir"],
    natsBaseDir: flags["nats-base-dir"],
    disks: first !== undefined && second !== undefined ? [first, second] : undefined,
    imageDisk: flags["image-disk"] === undefined ? undefined : diskOf(flags["image-disk"]),
    machine: flags.machine ?? false,
    certificatesDir: flags.certificates ?? "/usr/local/share/ca-certificates",
    heartbeats: flags.heartbeats ?? false,
    network: flags.network ?? "private",
    certificate: ca,
    uuid: () => systemRandom.uuid(),
    control: control ?? controlOf(flags),
    only: flags.only === undefined ? undefined : new Set(flags.only.map(ruleNamed)),
    nextCertificate: flags["next-cert"] === undefined ? undefined : pairOf(flags, "next-cert", "next-key"),
    differs: new Map((flags.differs ?? []).map(differenceOf)),
    absent: {
      ...(flags["no-nats"] !== undefined && { nats: flags["no-nats"] }),
      ...(flags["no-image-disk"] !== undefined && { "image-disk": flags["no-image-disk"] }),
    },
  };
}

function httpsOf(flags: Flags, ca: string, password: string): AgentClient | undefined {
  if (flags.mbus === undefined) return undefined;
  if (!URL.canParse(flags.mbus)) throw BadUsage({ why: "--mbus is not a URL" });
  const mbus = new URL(flags.mbus);
  if (mbus.password !== "")
    throw BadUsage({ why: "the password belongs into AGENT_MBUS_PASSWORD, not on the command line" });
  mbus.password = encodeURIComponent(password);
  return new AgentClient({ mbus: mbus.href, ca, clock: systemClock });
}

async function busOf(flags: Flags, ca: string): Promise<BusClient | undefined> {
  if (flags.nats === undefined) return undefined;
  if (flags["agent-id"] === undefined) throw BadUsage({ why: "--nats needs --agent-id" });
  const hasMonitor = flags["hm-cert"] !== undefined;
  return await BusClient.open({
    url: flags.nats,
    ca,
    director: pairOf(flags, "nats-cert", "nats-key"),
    healthMonitor: hasMonitor ? pairOf(flags, "hm-cert", "hm-key") : undefined,
    agentId: flags["agent-id"],
    clock: systemClock,
    uuid: () => systemRandom.uuid(),
  });
}

const pairOf = (flags: Flags, cert: FileFlag, key: FileFlag): PemPair => ({
  cert: read(flags, cert),
  key: read(flags, key),
});

type FileFlag = "ca" | "nats-cert" | "nats-key" | "hm-cert" | "hm-key" | "next-cert" | "next-key";

function read(flags: Flags, name: FileFlag): string {
  const path = flags[name];
  if (path === undefined) throw BadUsage({ why: `--${name} is needed` });
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw BadUsage({ why: `the file of --${name} cannot be read` }, { cause });
  }
}

function flagsOf(argv: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: [...argv],
      options: {
        help: { type: "boolean", short: "h" },
        mbus: text,
        ca: text,
        nats: text,
        "no-nats": text,
        "no-image-disk": text,
        "nats-cert": text,
        "nats-key": text,
        "hm-cert": text,
        "hm-key": text,
        "agent-id": text,
        "next-cert": text,
        "next-key": text,
        control: text,
        differs: { type: "string", multiple: true },
        only: { type: "string", multiple: true },
        report: text,
        agent: text,
        seed: text,
        heartbeats: flag,
        all: flag,
        "base-dir": text,
        "nats-base-dir": text,
        disk: { type: "string", multiple: true },
        "image-disk": text,
        network: text,
        machine: flag,
        certificates: text,
      },
    }).values;
  } catch (cause) {
    throw BadUsage({ why: "the command line is not understood" }, { cause });
  }
}

function controlOf(flags: Flags): AgentControl | undefined {
  if (flags.control === undefined) return undefined;
  const command = parseStrictJson(flags.control, "--control");
  const words = Array.isArray(command) && command.every((word): word is string => typeof word === "string");
  if (!words || command.length === 0) throw BadUsage({ why: "--control is a JSON array of strings" });
  return commandControl(command, systemExec);
}

function differenceOf(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  const why = text.slice(at + 1);
  if (at < 1 || why === "") throw BadUsage({ why: "--differs is RULE=WHY" });
  return [ruleNamed(text.slice(0, at)), why];
}

/** Reads a rule by its id, or by its number in the list of checks. */
function ruleNamed(name: string): AgentRuleId {
  const found = ALL_CHECKS.find((check) => check.id === name || labelOf(check) === name);
  if (found === undefined) throw BadUsage({ why: `there is no rule ${name}` });
  return found.id;
}

function subjectOf({
  report,
  agent,
}: Flags): { readonly report: string; readonly agent: string } | undefined {
  if (report === undefined) return undefined;
  if (agent === undefined)
    throw BadUsage({ why: "--report needs --agent, the executable that the receipt is about" });
  if (!existsSync(agent)) throw BadUsage({ why: "the file of --agent does not exist" });
  return { report, agent };
}

function diskOf(text: string): CheckDisk {
  const at = text.indexOf("=");
  if (at < 1) throw BadUsage({ why: "--disk is CID=HINT" });
  return { cid: text.slice(0, at), hint: parseStrictJson(text.slice(at + 1), "the hint of --disk") };
}
