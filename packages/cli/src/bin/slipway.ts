#!/usr/bin/env node
import { join } from "node:path";
import { start } from "../commands/start.ts";

const HELP = `slipway: a BOSH-compatible system

  slipway start [--help]    the Director, with VMs as processes of this host
`;

const [command, ...rest] = process.argv.slice(2);
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
const io = { out: process.stdout, err: process.stderr, stop: stop.signal };
// The agent's bundle stands beside ours: packages/cli/dist and packages/agent/dist.
const agentBundle = join(__dirname, "..", "..", "agent", "dist", "slipway-agent.cjs");

async function main(): Promise<number> {
  if (command === "start") return await start(rest, agentBundle, io);
  const asked = command === "--help" || command === "-h" || command === "help";
  (asked ? process.stdout : process.stderr).write(HELP);
  return asked ? 0 : 2;
}

void main().then((code) => process.exit(code));
