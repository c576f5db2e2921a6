import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { needs } from "@slipway/testkit/needs";
import { fractionsOf, rounds, sampleOf, seed } from "@slipway/testkit/sample";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loopsLack } from "../platform/testing/loop-lab.ts";
import type { KillMoment } from "./testing/deadly-commands.ts";
import { KilledRound } from "./testing/killed-round.ts";
import { type DiskKind, type DiskShop, diskShop } from "./testing/test-disks.ts";
import { fillTree } from "./testing/tree.ts";

const ROUNDS_AT_ONCE = 3;
/** For each kind of disk. */
const RANDOM_ROUNDS = rounds({ sample: 1, all: 6 });
/** Kills per run, out of some forty moments. */
const SAMPLE = 1;
/** These take long on large disks; an agent that is killed leaves them running. */
const LONG = /^(cp|mke2fs) /;

/**
 * Commands before which the agent writes something. For others "before" is the same as "after" the previous command.
 */
const WRITTEN_BEFORE = /^(mke2fs|mount -o|umount) /;

const bundle = agentBundle();
const can: Readonly<Record<DiskKind, boolean>> = {
  directories: needs("userns", await canUseSandboxes(), "mount namespaces cannot be made"),
  "loop devices": needs("root-loop", loopsLack() === "", `it lacks ${loopsLack()}`),
};
/** Every moment is tried with one kind; the agent goes the same way with the other. */
const thorough: DiskKind = can["loop devices"] ? "loop devices" : "directories";
/** A minute where nothing else runs; the machine may be busy. */
const PATIENCE_MS = 900_000;

const KINDS = ["directories", "loop devices"] as const;
const possible = KINDS.filter((kind) => can[kind]);
const tried = sampleOf("killed agent", possible, 1);

for (const kind of KINDS) {
  describe.runIf(tried.includes(kind))(
    `an agent with ${kind} that is killed with -9 and started again (seed ${seed()})`,
    () => {
      let shop: DiskShop;
      let remove = async () => {};
      let reference: { readonly calls: readonly string[]; readonly ms: number };

      beforeAll(async () => {
        const directory = await mkdtemp(join(tmpdir(), "slipway-e2e-"));
        remove = () => rm(directory, { recursive: true, force: true });
        shop = await diskShop(kind, directory, fillTree);
        const round = await KilledRound.open(bundle(), shop);
        try {
          reference = { ms: await round.run(), calls: await round.commands.calls() };
        } finally {
          await round.close();
        }
      });
      afterAll(() => remove());

      const round = async (name: string, begin: (round: KilledRound) => Promise<void>): Promise<number> => {
        const here = await KilledRound.open(bundle(), shop);
        try {
          await begin(here);
          await here.run();
          return here.deaths;
        } catch (cause) {
          const said = here.machine.agent?.output() ?? "";
          throw new Error(`killed ${name}: ${String(cause)}\nthe agent said:\n${said}`, { cause });
        } finally {
          await here.close();
        }
      };

      it(
        "at every command that changes a disk, loses nothing and finishes what is asked for again",
        async () => {
          const all = reference.calls.flatMap((call, index): [string, KillMoment][] => {
            const at = index + 1;
            const whens: KillMoment["when"][] = LONG.test(call) ? ["after", "during"] : ["after"];
            if (kind === thorough && WRITTEN_BEFORE.test(call)) whens.push("before");
            return whens.map((when) => [`${when} command ${at}, ${call}`, { when, at }]);
          });
          const moments = sampleOf(`killed agent, ${kind}`, all, SAMPLE);
          const deaths = await inTurns(moments, ([name, moment]) =>
            round(name, (one) => one.commands.arm(moment)),
          );
          expect(deaths).toEqual(moments.map(() => 1));
        },
        PATIENCE_MS,
      );

      it(
        "at random moments, loses nothing and finishes what is asked for again",
        async () => {
          const chance = fractionsOf(`killed agent at random, ${kind}`);
          const delays = Array.from({ length: RANDOM_ROUNDS }, () => chance() * reference.ms);
          const deaths = await inTurns(delays, (ms) =>
            round(`after ${Math.round(ms)} ms`, async (one) => {
              systemClock.after(ms, () => void one.machine.agent?.kill());
            }),
          );
          // An agent that is quicker than the first time may end before the kill.
          for (const one of deaths) expect(one).toBeLessThanOrEqual(1);
        },
        PATIENCE_MS,
      );
    },
  );
}

/** A few at a time: each is mostly waiting. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: ROUNDS_AT_ONCE }, worker));
  return results;
}
