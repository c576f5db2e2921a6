#!/usr/bin/env node
import { runDirector } from "../start/command.ts";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
const io = { out: process.stdout, err: process.stderr, stop: stop.signal };
void runDirector(process.argv.slice(2), io).then((code) => process.exit(code));
