// Another checkout's Director beside ours, by turns: each build runs its own benchmark program, both are measured with our
// packages/sim/src/bench/effort.ts.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { SETTINGS } from "../tools/bundle.mjs";
import { OURS, part, startTwice } from "./director-start.mjs";
import { quick, report } from "./judge.mjs";
import { median } from "./measure.mjs";

const ROUNDS = quick ? 1 : 3;
const EFFORT = "packages/sim/src/bench/effort.ts";

const ourEffort = {
  name: "our-effort",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/sim\/src\/bench\/effort\.ts$/ }, ({ path }) => ({
      contents: readFileSync(EFFORT, "utf8"),
      loader: "ts",
      // The driver that is watched must be the one that their Director uses.
      resolveDir: dirname(path),
    })),
};

/** Bundles what is measured, from the sources and dependencies of the checkout. */
async function programsOf(dir) {
  for (const needed of ["node_modules", EFFORT])
    if (!existsSync(join(dir, needed)))
      throw new Error(`--against ${dir}: no ${needed} there; name a checkout of Slipway after npm ci`);
  const programs = {
    // In their folders: a Director looks for its database server from where it is.
    director: join(dir, "packages/director/dist/slipway-director.cjs"),
    parts: join(dir, "packages/sim/dist/bench-against.cjs"),
  };
  const make = (from, outfile) =>
    build({
      ...SETTINGS,
      absWorkingDir: dir,
      entryPoints: [join(dir, from)],
      outfile,
      plugins: [ourEffort],
    });
  await make("packages/director/src/bin/slipway-director.ts", programs.director);
  await make("packages/sim/src/bench/main.ts", programs.parts);
  return programs;
}

/** Both builds by turns, so that a slow moment of the machine hits both. */
export async function against(given, instances) {
  const builds = { theirs: await programsOf(resolve(given)), ours: OURS };
  const seen = { theirs: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, programs] of Object.entries(builds)) {
      const { create, same } = await part("deploy", [instances], programs);
      const start = await startTwice(programs);
      seen[name].push({
        rate: instances / (create.ms / 1000),
        serverCpu: create.serverCpuMs / instances,
        ownCpu: create.ownCpuMs / instances,
        statements: create.statements / instances,
        roundTrips: create.roundTrips / instances,
        same: same.ms,
        sameStatements: same.statements,
        peak: create.peakMib,
        fresh: start.fresh.ms,
        later: start.later.ms,
        idle: start.later.mib,
      });
    }

  const of = (name, key) => median(seen[name].map((one) => one[key]));
  const row = (what, key, unit, digits, more) => {
    const [theirs, ours] = [of("theirs", key), of("ours", key)];
    const show = (n) => `${n.toFixed(digits)} ${unit}`.trim();
    return {
      what,
      ours: show(ours),
      baseline: show(theirs),
      ratio: more ? ours / theirs : theirs / ours,
    };
  };
  const n = instances.toLocaleString("en-US");
  const rows = [
    row(`deploy of ${n} new instances, rate`, "rate", "/s", 1, true),
    row("  database's processor time per instance", "serverCpu", "ms", 2),
    row("  our own processor time per instance", "ownCpu", "ms", 2),
    row("  statements per instance", "statements", "", 1),
    row("  round trips per instance", "roundTrips", "", 1),
    row("  peak memory", "peak", "MiB", 0),
    row(`deploy of ${n} unchanged instances`, "same", "ms", 0),
    row("  statements in all", "sameStatements", "", 0),
    row("start to /info, fresh", "fresh", "ms", 0),
    row("start to /info, later", "later", "ms", 0),
    ...(of("ours", "idle") === undefined ? [] : [row("  memory then", "idle", "MiB", 0)]),
  ];
  const title = `The Director beside ${given}, medians of ${ROUNDS} rounds by turns; the ratio says how much better ours is`;
  return report(title, rows);
}
