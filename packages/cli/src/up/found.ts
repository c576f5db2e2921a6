import type { Tools } from "../tools.ts";
import { NotAnswering, RunsElsewhere } from "./errors.ts";
import { type Info, infoOf } from "./info.ts";
import { type Reach, readRunning } from "./running.ts";

/** A Director of this home that runs in another process. */
export interface Found {
  readonly pid: number;
  readonly since: number;
  readonly reach: Reach;
  readonly info: Info;
}

const STARTS_WITHIN_MS = 90_000;
const ANSWERS_WITHIN_MS = 15_000;
const PAUSE_MS = 50;

/**
 * The one that runs already, healthy. One that is just starting is waited for; one that is there and does not answer is
 * an error. Undefined when none runs.
 */
export async function findCloud(
  { home, clock, stop }: Pick<Tools, "home" | "clock" | "stop">,
  wanted?: number,
): Promise<Found | undefined> {
  const begun = clock.monotonic();
  for (;;) {
    const seen = await readRunning(home);
    if (seen === undefined || seen.life === "dead") return undefined;
    const { reach, since } = seen;
    const { pid } = seen.process;
    if (reach !== undefined && wanted !== undefined && wanted !== 0 && wanted !== reach.port)
      throw RunsElsewhere({ url: reach.url, pid, port: wanted });
    const info = reach && (await infoOf(reach, clock));
    if (reach !== undefined && info !== undefined) return { pid, since, reach, info };
    const patience = reach === undefined ? STARTS_WITHIN_MS : ANSWERS_WITHIN_MS;
    if (clock.monotonic() - begun > patience)
      throw NotAnswering({ pid, url: reach?.url ?? "any address yet" });
    await clock.sleep(PAUSE_MS, stop);
  }
}
