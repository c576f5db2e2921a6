#!/usr/bin/env node
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openEmbedded } from "@slipway/director/store/embedded/open";
import { systemClock } from "@slipway/kernel/clock";
import { errorText, toError } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { type Broken, prepare, survive } from "../crash/drive.ts";
import { SCENARIOS } from "../crash/scenarios.ts";
import { seededOrder } from "../crash/seeded.ts";

const HELP = `crash: kills the Director at every point of every flow, starts it again, checks that all holds

  npm run crash                    every point
  npm run crash -- --points N      N of each flow, chosen by the seed
  npm run crash -- --kills N       and N kills of each flow at random moments
  npm run crash -- --seed S --only NAME --json
`;

const AT_ONCE = 2;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean" },
      help: { type: "boolean" },
      seed: { type: "string" },
      points: { type: "string" },
      kills: { type: "string" },
      only: { type: "string" },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const seed = values.seed ?? systemRandom.hex(4);
  const say = (line: string) => {
    if (values.json !== true) process.stdout.write(`${line}\n`);
  };
  say(`seed ${seed}`);
  const dir = await mkdtemp(join("/var/tmp", "slipway-crash-"));
  // As root the database server runs as somebody else, who must get through.
  await chmod(dir, 0o711);
  const broken: Broken[] = [];
  let points = 0;
  let close = () => Promise.resolve();
  try {
    const database = await openEmbedded({ stateDir: dir, clock: systemClock, durable: false });
    close = () => database.close();
    const lab = { connection: database.connection, dir, child: join(__dirname, "crash-child.cjs") };
    for (const [at, scenario] of SCENARIOS.entries()) {
      if (values.only !== undefined && !scenario.name.includes(values.only)) continue;
      const prepared = await prepare(lab, scenario, `scenario_${at}`);
      const order = seededOrder(`${seed} ${scenario.name}`, prepared.points.length);
      const chosen = order.slice(0, Number(values.points ?? order.length)).map((one) => ({ dieAt: one + 1 }));
      const kills = seededOrder(`${seed} kills`, 400).slice(0, Number(values.kills ?? 5));
      const deaths = [...chosen, ...kills.map((ms) => ({ afterMs: 150 + ms }))];
      const queue = deaths.entries();
      const worker = async () => {
        for (const [nth, death] of queue) {
          const found = await survive(prepared, `run_${at}_${nth}`, death);
          points += 1;
          if (found === undefined) continue;
          broken.push(found);
          say(`BROKEN ${found.scenario}, point ${found.point}:\n  ${found.what.join("\n  ")}`);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      await prepared.stage.remove();
      say(`${scenario.name}: ${chosen.length} of ${prepared.points.length} points, ${kills.length} kills`);
    }
  } finally {
    await close();
    await rm(dir, { recursive: true, force: true });
  }
  if (values.json === true) process.stdout.write(`${JSON.stringify({ points, broken, seed })}\n`);
  else say(`${points} crash points covered, ${broken.length} broken, seed ${seed}`);
  return broken.length === 0 ? 0 : 1;
}

void main()
  .catch((error: unknown) => {
    process.stderr.write(`${errorText(toError(error))}\n`);
    return 2;
  })
  .then((code) => process.exit(code));
