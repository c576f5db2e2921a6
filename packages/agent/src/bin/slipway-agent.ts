#!/usr/bin/env node
import { logLimitOf, resilientOutput } from "@slipway/kernel/resilient-output";
import { run } from "../cli.ts";

const stop = new AbortController();
// Not once: a signal to the whole group may come twice. Ending is bounded in any case.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
// The VM needs its agent also when nobody reads its log, and when the log has no space.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
const limit = logLimitOf(process.env);
const out = resilientOutput(process.stdout, { limit });
const err = resilientOutput(process.stderr, { limit });
void run(process.argv.slice(2), { out, err, stop: stop.signal }).then((code) => process.exit(code));
