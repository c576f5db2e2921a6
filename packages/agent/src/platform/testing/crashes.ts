import type { Exec } from "@slipway/kernel/exec";
import { sampleOf } from "@slipway/testkit/sample";

export class Crash extends Error {}

/** Returns true for commands that only read. A crash beside one equals a crash beside the command before. */
const looks = (program: string, args: readonly string[]): boolean =>
  ["blkid", "getfattr"].includes(program) || (program === "sfdisk" && args.includes("--json"));

/** The agent is killed before or after its n-th command that changes something. */
export function crashing(exec: Exec, at: number, moment: "before" | "after"): Exec {
  let calls = 0;
  let dead = false;
  return async (program, args, options) => {
    if (dead) throw new Crash("a dead agent runs nothing");
    if (looks(program, args)) return exec(program, args, options);
    const mine = calls++ === at;
    if (mine) dead = true;
    if (mine && moment === "before") throw new Crash(`before ${program}`);
    const result = await exec(program, args, options);
    if (mine) throw new Crash(`after ${program}`);
    return result;
  };
}

const MOMENTS = ["before", "after"] as const;

/**
 * Runs `attempt` with an exec that crashes at each command in turn, until it runs through without a crash: before and
 * after it, or, in `npm test`, at the one of the two that the run's seed chooses.
 */
export async function crashEverywhere(
  exec: Exec,
  attempt: (exec: Exec, point: string, run: (work: () => Promise<void>) => Promise<boolean>) => Promise<void>,
): Promise<number> {
  for (let at = 0; ; at++) {
    let crashed = false;
    for (const moment of sampleOf(`crash at command ${at}`, MOMENTS, 1)) {
      await attempt(crashing(exec, at, moment), `${moment} command ${at}`, async (work) => {
        try {
          await work();
          return false;
        } catch (error) {
          if (!(error instanceof Crash)) throw error;
          crashed = true;
          return true;
        }
      });
    }
    if (!crashed) return at;
  }
}
