import { access } from "node:fs/promises";
import { messageTrail } from "@slipway/kernel/errors";
import type { NetworkTools } from "./linux-networks.ts";
import type { InterfacePlan, StaticInterface } from "./plan.ts";

/** Upstream's: for a little longer than a minute and a half, as a switch may not listen yet. */
const ROUNDS = 20;
const PAUSE_MS = 5_000;
const PLACES = ["usr/sbin", "usr/bin", "sbin", "bin"];

/**
 * Tells the neighbours which NIC has these addresses now: a VM that was recreated often has those of the one before it,
 * and routers remember the old NIC for hours. Nobody waits for it, and failing is no failure.
 */
export async function announce(plan: InterfacePlan, tools: NetworkTools, signal: AbortSignal): Promise<void> {
  const { clock, log } = tools;
  const statics = plan.interfaces.filter((one) => one.kind === "static").filter((one) => one.family === 4);
  const program = statics.length === 0 ? undefined : await arping(tools);
  if (program === undefined) return;
  try {
    for (let round = 1; round <= ROUNDS; round++) {
      for (const one of statics) await tell(one, program, tools, round === 1);
      if (round < ROUNDS) await clock.sleep(PAUSE_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) log.warn(`addresses are not announced any more: ${messageTrail(error)}`);
  }
}

async function arping({ paths }: NetworkTools): Promise<string | undefined> {
  for (const place of PLACES) {
    const path = paths.system(place, "arping");
    const present = await access(path).then(
      () => true,
      () => false,
    );
    if (present) return path;
  }
  return undefined;
}

async function tell(one: StaticInterface, program: string, { exec, log }: NetworkTools, aloud: boolean) {
  const { code, stderr } = await exec(program, ["-c", "1", "-U", "-I", one.interface, one.address]);
  if (code !== 0 && aloud)
    log.warn(`announcing ${one.address} on ${one.interface}: arping ended with ${code}: ${stderr.trim()}`);
}
