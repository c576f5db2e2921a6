#!/usr/bin/env node
import { run } from "../cli.ts";

const stop = new AbortController();
// Not once: a signal to the whole group may come twice. Ending is bounded in any case.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
void run(process.argv.slice(2), { out: process.stdout, err: process.stderr, stop: stop.signal }).then(
  (code) => process.exit(code),
);
