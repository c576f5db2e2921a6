#!/usr/bin/env node
import { parseArgs } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { errorText, toError } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { playPairs } from "../pairs/pairs.ts";
import { PairStage } from "../pairs/play.ts";
import { PAIR_OPERATIONS } from "../pairs/table.ts";
import { withLab } from "../schedule/scratch.ts";

const HELP = `pairs: holds one operation at each of its points while another runs, in a simulated cloud

  npm run pairs                          every point of every pair
  npm run pairs -- --plays N --seed S    N of them, chosen by the seed
  npm run pairs -- --minutes N --seed S  as many as fit, in an order that the seed decides
  npm run pairs -- --only TEXT           pairs whose names contain it: "attach orphan 1 | clean up all"
  npm run pairs -- --list                the names of the operations
  npm run pairs -- --json
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean" },
      help: { type: "boolean" },
      list: { type: "boolean" },
      seed: { type: "string" },
      plays: { type: "string" },
      minutes: { type: "string" },
      only: { type: "string" },
    },
  });
  if (values.help === true || values.list === true) {
    process.stdout.write(
      values.help === true ? HELP : `${PAIR_OPERATIONS.map(({ name }) => name).join("\n")}\n`,
    );
    return 0;
  }
  const seed = values.seed ?? systemRandom.hex(4);
  const say = (line: string) => {
    if (values.json !== true) process.stdout.write(`${line}\n`);
  };
  const until = systemClock.monotonic() + Number(values.minutes) * 60_000;
  const found = await withLab(async (lab) =>
    playPairs(await PairStage.open(lab), {
      seed,
      plays: values.plays === undefined ? undefined : Number(values.plays),
      isOver: values.minutes === undefined ? undefined : () => systemClock.monotonic() >= until,
      only: values.only ?? "",
      say,
    }),
  );
  const { plays, cases, pairs, locked, broken } = found;
  if (values.json === true) process.stdout.write(`${JSON.stringify({ seed, ...found })}\n`);
  else
    say(
      `${plays} of ${cases} plays of ${pairs} pairs, ${locked} points left out for a common lock, ${broken.length} broken, seed ${seed}`,
    );
  return broken.length === 0 ? 0 : 1;
}

void main()
  .catch((error: unknown) => {
    process.stderr.write(`${errorText(toError(error))}\n`);
    return 2;
  })
  .then((code) => process.exit(code));
