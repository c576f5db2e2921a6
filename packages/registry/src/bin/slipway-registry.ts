#!/usr/bin/env node
import { resilientOutput } from "@slipway/kernel/resilient-output";
import { run } from "../cli.ts";

const stop = new AbortController();
// Not once: npm and timeout pass a signal on that came to the whole group. Stopping is bounded in any case.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
// A registry goes on when nobody reads its output, and when the output has no space.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
const io = { out: resilientOutput(process.stdout), err: resilientOutput(process.stderr), stop: stop.signal };
void run(process.argv.slice(2), io).then((code) => {
  process.exitCode = code;
});
