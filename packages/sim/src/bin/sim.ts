#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { errorText, toError } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import type { Lab } from "../schedule/lab.ts";
import { withLab } from "../schedule/scratch.ts";
import { type HistoryPlan, planOf } from "../worlds/plan.ts";
import { HistoryPlayer } from "../worlds/play.ts";
import { shrink } from "../worlds/shrink.ts";

const HELP = `sim: random histories of operators, faults and crashes, in a simulated cloud

  npm run sim                              100 histories, of a new seed
  npm run sim -- --minutes 10 --seed S     as many as fit
  npm run sim -- --histories 5000 --seed S --from 200
  npm run sim -- --history S-17            one history, told step by step
  npm run sim -- --plan FILE               one history from a file, such as a minimized one
  npm run sim -- --json --no-shrink
`;

/** Rows that were removed slow the database down after so many histories. */
const VACUUM_EVERY = 100;
const TELL_EVERY = 25;
const DEFAULT_HISTORIES = 100;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean" },
      help: { type: "boolean" },
      seed: { type: "string" },
      minutes: { type: "string" },
      histories: { type: "string" },
      from: { type: "string" },
      history: { type: "string" },
      plan: { type: "string" },
      "no-shrink": { type: "boolean" },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const say = (line: string) => {
    if (values.json !== true) process.stdout.write(`${line}\n`);
  };
  return await withLab(async (lab) => {
    if (values.plan !== undefined)
      return await tell(lab, JSON.parse(await readFile(values.plan, "utf8")) as HistoryPlan);
    if (values.history !== undefined) return await tell(lab, planOf(values.history));
    const seed = values.seed ?? systemRandom.hex(4);
    const until =
      values.minutes === undefined
        ? Number.POSITIVE_INFINITY
        : systemClock.monotonic() + Number(values.minutes) * 60_000;
    const first = Number(values.from ?? 0);
    const unlimited = values.minutes === undefined ? DEFAULT_HISTORIES : Number.POSITIVE_INFINITY;
    const last = first + Number(values.histories ?? unlimited);
    say(`seed ${seed}`);
    const found = await play(lab, { seed, first, last, until, shrinks: values["no-shrink"] !== true }, say);
    if (values.json === true) process.stdout.write(`${JSON.stringify({ seed, ...found })}\n`);
    else
      say(
        `${found.histories} histories with ${found.steps} calls and statements, ${found.faults} faults and ${found.kills} kills, ${found.broken.length} broken, seed ${seed}`,
      );
    return found.broken.length === 0 ? 0 : 1;
  });
}

interface Range {
  readonly seed: string;
  readonly first: number;
  readonly last: number;
  readonly until: number;
  readonly shrinks: boolean;
}

async function play(lab: Lab, range: Range, say: (line: string) => void) {
  const player = new HistoryPlayer(lab);
  const broken: { readonly seed: string; readonly what: readonly string[]; readonly plan: HistoryPlan }[] =
    [];
  const total = { histories: 0, steps: 0, faults: 0, kills: 0 };
  for (let at = range.first; at < range.last && systemClock.monotonic() < range.until; at += 1) {
    const seed = `${range.seed}-${at}`;
    const plan = planOf(seed);
    const { broken: what, steps, faults, kills } = await player.play(plan);
    total.histories += 1;
    total.steps += steps;
    total.faults += faults;
    total.kills += kills;
    if (total.histories % VACUUM_EVERY === 0) await lab.vacuum();
    if (total.histories % TELL_EVERY === 0) say(`${total.histories} histories, ${broken.length} broken`);
    if (what.length === 0) continue;
    say(`broken: npm run sim -- --history ${seed}\n  ${what.join("\n  ")}`);
    const isBroken = async (one: HistoryPlan) => (await player.play(one)).broken.length > 0;
    const smallest = range.shrinks ? await shrink(plan, isBroken) : plan;
    broken.push({ seed, what, plan: smallest });
    if (range.shrinks) say(`  minimized: ${JSON.stringify(smallest)}`);
  }
  return { ...total, broken };
}

/** Plays one history and prints what happened. */
async function tell(lab: Lab, plan: HistoryPlan): Promise<number> {
  const { broken, story, trace } = await new HistoryPlayer(lab).play(plan);
  process.stdout.write(`${JSON.stringify(plan, undefined, 1)}\n${story.join("\n")}\n${trace.length} calls\n`);
  process.stdout.write(broken.length === 0 ? "nothing is broken\n" : `broken:\n  ${broken.join("\n  ")}\n`);
  return broken.length === 0 ? 0 : 1;
}

void main()
  .catch((error: unknown) => {
    process.stderr.write(`${errorText(toError(error))}\n`);
    return 2;
  })
  .then((code) => process.exit(code));
