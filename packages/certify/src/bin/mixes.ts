#!/usr/bin/env node
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { loadAdapter } from "../mixes/adapters.ts";
import { type MixesMeans, mixesCommand } from "../mixes/cli.ts";
import { mustBeBuilt, programsIn } from "../mixes/programs.ts";
import { runMixes } from "../mixes/run.ts";

// A temporary directory of root may be closed to the user the database runs as.
const parent = process.getuid?.() === 0 ? "/var/tmp" : tmpdir();
const stop = new AbortController();
// Once: what was started is ended in order, however often it is asked for.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () =>
    stop.abort(new Error("stopped before the end; everything that was started is ended")),
  );
const io = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};
const random = systemRandom;
// The bundle lies in packages/certify/dist.
const packages = join(__dirname, "../..");
const means: MixesMeans = {
  load: (cpi) => loadAdapter(cpi, packages),
  run: async ({ adapter, options }, onRow) => {
    const programs = programsIn(packages, adapter.program);
    mustBeBuilt(programs);
    const { agent } = programs;
    const openCloud = () => adapter.open({ agent, parent, random, options });
    return await runMixes(
      { programs, openCloud, parent, clock: systemClock, random, signal: stop.signal },
      onRow,
    );
  },
};
void mixesCommand(process.argv.slice(2), means, io).then((code) => {
  process.exitCode = stop.signal.aborted ? 130 : code;
});
