#!/usr/bin/env node
import { resilientOutput } from "@slipway/kernel/resilient-output";
import { servesDocuments } from "../documents/serve.ts";
import { runDirector } from "../start/command.ts";

function start(): void {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  // A Director goes on when its output is not read, and when the output has no space.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  // As modules we are the script that was started; the bundle knows its name.
  const script = typeof __filename === "string" ? __filename : process.argv[1];
  const io = {
    out: resilientOutput(process.stdout),
    err: resilientOutput(process.stderr),
    stop: stop.signal,
    onReload: (reload: () => void) => void process.on("SIGHUP", reload),
    script,
  };
  void runDirector(process.argv.slice(2), io).then((code) => process.exit(code));
}

// The same script serves as the thread that reads documents.
if (!servesDocuments()) start();
