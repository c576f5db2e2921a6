#!/usr/bin/env node
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { VERSION } from "@slipway/director/start/version";
import { systemClock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { logLimitOf, resilientOutput } from "@slipway/kernel/resilient-output";
import { COMMANDS } from "../commands.ts";
import { homeOf } from "../home/home.ts";
import { main } from "../main.ts";
import { PIPE, pipe } from "../proxy/pipe.ts";

// The other bundles stand beside ours.
const beside = (file: string) => join(__dirname, file);

const MOST_SIGNALS = 3;
const ONE_SIGNAL_MS = 1000;
const END_WITHIN_MS = 20_000;
const stop = new AbortController();
let signals = 0;
let last = Number.NEGATIVE_INFINITY;
// SIGHUP: the terminal was closed.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    stop.abort();
    // One Ctrl-C comes several times where npm and a script stand between: to the group, and passed on by each.
    const now = systemClock.monotonic();
    if (now - last < ONE_SIGNAL_MS) return;
    last = now;
    // A user who presses Ctrl-C again does not want to wait for an orderly end.
    if (++signals >= MOST_SIGNALS) process.exit(130);
  });

// `slipway events | head` closes the pipe early. Cleanup still runs: a Ctrl-C ends `| tee` too.
let unread = false;
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error) => {
    if (unread || !["EPIPE", "EIO"].includes(systemCode(error) ?? "")) return;
    unread = true;
    stop.abort();
    systemClock.after(END_WITHIN_MS, () => process.exit(0));
  });

// No space for a line of output ends nothing: a Director runs here. A command whose output is not whole has failed.
const limit = logLimitOf(process.env);
const out = resilientOutput(process.stdout, { limit });

// The same script serves as the thread that reads documents for a Director.
if (!isMainThread) void import("@slipway/director/documents/serve").then((serve) => serve.servesDocuments());
else if (process.argv[2] === PIPE)
  void pipe({
    argv: process.argv.slice(3),
    env: process.env,
    input: process.stdin,
    output: process.stdout,
    err: process.stderr,
    clock: systemClock,
    stop: stop.signal,
  }).then((code) => process.exit(code));
else
  void main(COMMANDS, {
    argv: process.argv.slice(2),
    env: process.env,
    version: VERSION,
    out,
    err: resilientOutput(process.stderr, { limit }),
    input: process.stdin.isTTY ? process.stdin : undefined,
    clock: systemClock,
    random: systemRandom,
    stop: stop.signal,
    home: homeOf(process.env, process.getuid?.() ?? 1),
    programs: {
      self: [process.execPath, __filename],
      agent: beside("slipway-agent.cjs"),
      registry: beside("slipway-registry.cjs"),
      renderer: beside("render-worker.mjs"),
      demo: { release: beside("demo-release.tgz"), manifest: beside("demo-manifest.yml") },
    },
  }).then((code) => process.exit(code === 0 && out.failed && limit === undefined ? 1 : code));
