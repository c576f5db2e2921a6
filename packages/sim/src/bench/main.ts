import { systemClock } from "@slipway/kernel/clock";
import { errorText, toError } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { simRenderPool } from "../director/sim-renderer.ts";
import { databaseBench } from "./database-bench.ts";
import { deployBench } from "./deploy-bench.ts";
import { fill } from "./fill.ts";
import { fleetAgents } from "./fleet/agents-process.ts";
import { fleetBench } from "./fleet/fleet-bench.ts";
import { jobsBench } from "./jobs-bench.ts";
import { planBench } from "./plan-bench.ts";
import { builtInRuby, templatesBench } from "./templates-bench.ts";

/** One measurement per process, so that none warms up another. Each prints a line of JSON for a program of `bench/`. */
const MEASUREMENTS: Readonly<Record<string, (...args: readonly string[]) => Promise<unknown>>> = {
  plan: (instances, rounds) => Promise.resolve(planReport(Number(instances), Number(rounds))),
  deploy: (instances) => deployBench(Number(instances), systemClock, systemRandom),
  database: (stateDir) => databaseBench(stateDir ?? "", systemClock),
  jobs: (instances, jobs, renderer) =>
    jobsBench(
      { instances: Number(instances), jobs: Number(jobs) },
      () => (renderer === "ruby" ? builtInRuby() : simRenderPool),
      { clock: systemClock, random: systemRandom },
    ),
  templates: (jobs, ruby) => templatesBench(Number(jobs), ruby, systemClock),
  fleet: (transport, agents, form, end) =>
    fleetBench(
      {
        ...{ transport: transport === "nats" ? "nats" : "https", agents: Number(agents) },
        ...{ quick: form === "quick", death: end === "death" },
      },
      { clock: systemClock, random: systemRandom },
    ),
  "fleet-agents": () => fleetAgents({ clock: systemClock, random: systemRandom }),
  fill: (stateDir, deployments, events) =>
    fill(
      stateDir ?? "",
      { deployments: Number(deployments), events: Number(events ?? 0) },
      { clock: systemClock, random: systemRandom },
    ),
};

const planReport = (instances: number, rounds: number) => ({
  ...planBench(instances, rounds, systemClock),
  peakMib: process.resourceUsage().maxRSS / 1024,
});

async function main(): Promise<number> {
  const [name = "", ...args] = process.argv.slice(2);
  const measure = Object.hasOwn(MEASUREMENTS, name) ? MEASUREMENTS[name] : undefined;
  if (measure === undefined) {
    process.stderr.write(
      `a part of npm run bench:director, bench:releases or bench:fleet: ${Object.keys(MEASUREMENTS).join(", ")}\n`,
    );
    return 2;
  }
  process.stdout.write(`${JSON.stringify((await measure(...args)) ?? null)}\n`);
  return 0;
}

void main()
  .catch((error: unknown) => {
    process.stderr.write(`${errorText(toError(error))}\n`);
    return 1;
  })
  .then((code) => process.exit(code));
