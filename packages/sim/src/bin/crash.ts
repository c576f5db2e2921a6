#!/usr/bin/env node
import { join } from "node:path";
import { parseArgs } from "node:util";
import { errorText, toError } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { crashAll } from "../crash/crash-all.ts";
import { doubleAll } from "../crash/double-all.ts";
import { Lane } from "../crash/lane.ts";
import { ALL_SCENARIOS } from "../crash/scenarios/table.ts";
import { seededOrder } from "../crash/seeded.ts";
import { mutantText, tryMutants } from "../crash/try-mutants.ts";
import { closingAll } from "../owned/resource-scope.ts";
import { scratchDirectory } from "../owned/scratch-directory.ts";

const HELP = `crash: kills the Director at every point of every flow, starts it again, checks that all holds

  npm run crash                    every point
  npm run crash -- --points N      dies N times in each flow, at points chosen by the seed
  npm run crash -- --kills N       and N kills of each flow at random moments
  npm run crash -- --part K/N      every N-th flow, from the K-th on: the whole in N runs
  npm run crash -- --seed S --only NAME --json
  npm run crash -- --list          the names of the flows
  npm run crash -- --double        two faults: after a crash or a lost answer at every point, another fault at each of the
                                   first calls of the next life (--calls N, 6 unless given); --points N first faults
                                   and --faults N second ones after each, chosen by the seed; --flows N in N flows
  npm run crash -- --mutants       switches off one part of one step at a time: each must be noticed;
                                   --only STEP, --in NAME: in flows of this name alone
`;

/** Calls of a second life that meet a fault, unless `--calls` says otherwise. */
const FIRST_CALLS = 6;
/** More than there are processors: the second rehearsal of each scenario mostly waits. */
const LANES = 5;
/** Memory that the lanes need while they work, with a large reserve. */
const ROOM_BYTES = 2 ** 31;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean" },
      help: { type: "boolean" },
      list: { type: "boolean" },
      seed: { type: "string" },
      points: { type: "string" },
      kills: { type: "string" },
      only: { type: "string" },
      in: { type: "string" },
      part: { type: "string" },
      mutants: { type: "boolean" },
      double: { type: "boolean" },
      faults: { type: "string" },
      calls: { type: "string" },
      flows: { type: "string" },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.list === true) {
    process.stdout.write(`${ALL_SCENARIOS.map(({ name }) => name).join("\n")}\n`);
    return 0;
  }
  const seed = values.seed ?? systemRandom.hex(4);
  const named = (values.mutants === true ? values.in : values.only) ?? "";
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const part = partOf(
    ALL_SCENARIOS.filter(({ name }) => name.includes(named)),
    values.part ?? "1/1",
  );
  const taken = new Set(seededOrder(`${seed} flows`, part.length).slice(0, number(values.flows)));
  const scenarios = part.filter((_, at) => taken.has(at));
  return await closingAll(async (owned) => {
    const say = (line: string) => {
      if (values.json !== true && !owned.isClosing) process.stdout.write(`${line}\n`);
    };
    if (values.mutants !== true) say(`seed ${seed}`);
    const dir = await scratchDirectory(owned, "crash", ROOM_BYTES);
    const child = {
      file: join(__dirname, "crash-child.cjs"),
      starter: join(__dirname, "crash-child-start.cjs"),
      code: join(dir, "code"),
    };
    const lanes: Lane[] = [];
    for (const _ of scenarios.slice(0, LANES)) {
      const open = () => Lane.open(dir, child);
      lanes.push(await owned.open(open, (lane) => lane.close()));
    }
    if (values.mutants === true) {
      const tried = await tryMutants(lanes, { scenarios, steps: values.only ?? "" }, say);
      const missed = tried.filter(({ by }) => by === undefined).map(({ mutant }) => mutantText(mutant));
      const caught = tried.length - missed.length;
      if (values.json === true)
        process.stdout.write(`${JSON.stringify({ mutants: tried.length, caught, missed })}\n`);
      else
        say(
          `${caught} of ${tried.length} mutants caught${missed.map((one) => `\nnot caught: ${one}`).join("")}`,
        );
      return missed.length === 0 ? 0 : 1;
    }
    if (values.double === true) {
      const plan = {
        scenarios,
        seed,
        firsts: number(values.points),
        seconds: number(values.faults),
        calls: number(values.calls) ?? FIRST_CALLS,
      };
      const { flows, firsts, seconds, broken } = await doubleAll(lanes, plan, say);
      if (values.json === true)
        process.stdout.write(`${JSON.stringify({ flows, firsts, seconds, broken, seed })}\n`);
      else
        say(
          `${firsts.crash} crashes and ${firsts.lost} lost answers in ${flows} flows, then ${seconds.refused} refusals, ${seconds.lost} lost answers, ${seconds.slow} slow ones and ${seconds.crash} crashes in the next life: ${broken.length} broken, seed ${seed}`,
        );
      return broken.length === 0 ? 0 : 1;
    }
    const found = await crashAll(
      lanes,
      { scenarios, seed, deaths: number(values.points), kills: number(values.kills) ?? 5 },
      say,
    );
    const { points, deaths, kills, kinds, broken } = found;
    if (values.json === true)
      process.stdout.write(`${JSON.stringify({ points, broken, seed, kinds, deaths, kills })}\n`);
    else
      say(
        `${points} crash points covered (${kinds.cpi} around CPI calls, ${kinds.agent} around messages to agents, ${kinds.write} around writes) by ${deaths} deaths and ${kills} kills, ${broken.length} broken, seed ${seed}`,
      );
    return broken.length === 0 ? 0 : 1;
  });
}

function partOf<T>(all: readonly T[], part: string): readonly T[] {
  const [k = 0, n = 0] = (/^([1-9]\d*)\/([1-9]\d*)$/.exec(part) ?? []).slice(1).map(Number);
  if (k < 1 || k > n) throw new Error(`--part ${part}: say which of how many, such as 1/4`);
  return all.filter((_, at) => at % n === k - 1);
}

void main()
  .catch((error: unknown) => {
    process.stderr.write(`${errorText(toError(error))}\n`);
    return 2;
  })
  .then((code) => process.exit(code));
