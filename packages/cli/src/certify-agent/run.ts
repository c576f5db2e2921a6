import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { conformanceCommand } from "@slipway/certify/agent/cli";
import { exists } from "@slipway/kernel/files";
import type { Tools } from "../tools.ts";
import { startAgentUnderTest, TEST_DISKS } from "./agent-under-test.ts";
import { AgentFileMissing } from "./errors.ts";

export interface CertifyAgentOptions {
  readonly agent: string;
  readonly platform: string;
  readonly agentArgs: readonly string[];
  readonly only: readonly string[];
  readonly differs: readonly string[];
  readonly report: string | undefined;
}

/** Starts the agent in a directory of its own, checks it, and removes both. Resolves to the exit code. */
export async function certifyAgent(
  options: CertifyAgentOptions,
  { ui, clock, random, stop }: Pick<Tools, "ui" | "clock" | "random" | "stop">,
): Promise<number> {
  const program = resolve(options.agent);
  if (!(await exists(program))) throw AgentFileMissing({ path: program });
  const dir = await mkdtemp(join(tmpdir(), "slipway-certify-agent-"));
  try {
    const args = ["-P", options.platform, ...options.agentArgs];
    const agent = await startAgentUnderTest({ program, args, dir, clock, random });
    const repeated = (flag: string, values: readonly string[]) => values.flatMap((value) => [flag, value]);
    try {
      const argv = [
        ...["--ca", agent.ca, "--mbus", agent.mbus, "--base-dir", agent.baseDir],
        ...(agent.hasMounts
          ? repeated(
              "--disk",
              TEST_DISKS.map((cid) => `${cid}=${JSON.stringify({ path: join(dir, cid) })}`),
            )
          : []),
        ...["--next-cert", agent.next.cert, "--next-key", agent.next.key],
        // Our platform for sandboxes keeps users and certificates below the base directory; others change this machine.
        ...(options.platform === SANDBOX
          ? ["--machine", "--certificates", join(agent.baseDir, "bosh", "etc", "ca-certificates")]
          : []),
        ...["--agent", program],
        ...(options.report === undefined ? [] : ["--report", options.report]),
        ...repeated("--only", options.only),
        ...repeated("--differs", options.differs),
      ];
      const lines = { out: (text: string) => ui.block(text), err: (text: string) => ui.block(text) };
      const checked = conformanceCommand(argv, agent.password, lines, { control: agent.control });
      return await Promise.race([checked, interrupted(stop)]);
    } finally {
      await agent.stop();
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Platform of our agent for VMs that share a machine. */
export const SANDBOX = "namespace";

/** Exit code of shells for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

const interrupted = (stop: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    if (stop.aborted) resolve(INTERRUPTED);
    stop.addEventListener("abort", () => resolve(INTERRUPTED), { once: true });
  });
