import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { errorText } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { BadUsage } from "../errors.ts";
import type { Io } from "../matrix/cli.ts";
import type { CheckContext, TestDisk } from "./check.ts";
import { AgentClient } from "./client.ts";
import { outcomeTable, runChecks } from "./run.ts";

const HELP = `Checks an agent from outside, through its HTTPS endpoint.

  agent-conformance --mbus https://USER@HOST:PORT --ca FILE [--base-dir DIR] [--disk CID=HINT --disk CID=HINT]

  --mbus      where the agent listens; the password comes from AGENT_MBUS_PASSWORD
  --ca        PEM of the authority that signed the agent's certificate
  --base-dir  the agent's /var/vcap, if it can be read from here
  --disk      an attached, empty disk nobody needs, with its hint as JSON; give two
  --network   a network of the agent's settings (default: private)

Exit code 0 if no check failed.
`;

/** Returns the exit code. */
export async function conformanceCommand(argv: readonly string[], password: string, io: Io): Promise<number> {
  try {
    const context = contextOf(argv, password);
    if (context === undefined) {
      io.out(HELP);
      return 0;
    }
    const outcomes = await runChecks(context);
    io.out(outcomeTable(outcomes));
    return outcomes.some((outcome) => outcome.result === "failed") ? 1 : 0;
  } catch (error) {
    io.err(`${errorText(error)}\n`);
    return 2;
  }
}

function contextOf(argv: readonly string[], password: string): CheckContext | undefined {
  const values = flagsOf(argv);
  if (values.help) return undefined;
  if (values.mbus === undefined || values.ca === undefined)
    throw BadUsage({ why: "--mbus and --ca are needed" });
  if (!URL.canParse(values.mbus)) throw BadUsage({ why: "--mbus is not a URL" });
  const mbus = new URL(values.mbus);
  if (mbus.password !== "")
    throw BadUsage({ why: "the password belongs into AGENT_MBUS_PASSWORD, not on the command line" });
  mbus.password = encodeURIComponent(password);
  const [first, second] = (values.disk ?? []).map(diskOf);
  return {
    agent: new AgentClient({ mbus: mbus.href, ca: readFileSync(values.ca, "utf8"), clock: systemClock }),
    baseDir: values["base-dir"],
    disks: first !== undefined && second !== undefined ? [first, second] : undefined,
    network: values.network ?? "private",
    uuid: () => systemRandom.uuid(),
  };
}

function flagsOf(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        help: { type: "boolean", short: "h" },
        mbus: { type: "string" },
        ca: { type: "string" },
        "base-dir": { type: "string" },
        disk: { type: "string", multiple: true },
        network: { type: "string" },
      },
    }).values;
  } catch (cause) {
    throw BadUsage({ why: "the command line is not understood" }, { cause });
  }
}

function diskOf(text: string): TestDisk {
  const at = text.indexOf("=");
  if (at < 1) throw BadUsage({ why: "--disk is CID=HINT" });
  return { cid: text.slice(0, at), hint: parseStrictJson(text.slice(at + 1), "the hint of --disk") };
}
