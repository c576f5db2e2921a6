import { type Conversation, isCpi } from "./read.ts";

/** Milliseconds. What was waited for in several places at once counts in equal parts. */
export interface TimeShares {
  readonly total: number;
  readonly cpi: number;
  readonly agent: number;
  /** The rest. */
  readonly director: number;
}

interface Turn {
  readonly at: number;
  readonly who: "run" | "cpi" | "agent";
  readonly by: 1 | -1;
}

/** Attributes each moment of the task to the CPI, the agents or the Director. */
export function timeSharesOf({ calls, runs }: Conversation): TimeShares {
  const turns: Turn[] = [];
  const span = (who: Turn["who"], from: number, ms: number) =>
    turns.push({ at: from, who, by: 1 }, { at: from + ms, who, by: -1 });
  for (const call of calls) span(isCpi(call) ? "cpi" : "agent", call.at, call.ms);
  for (const run of runs) span("run", run.at, run.ms);
  // A task that goes on has no end yet: what is known of it is from its first call to its last.
  const first = Math.min(...calls.map(({ at }) => at));
  const last = Math.max(...calls.map(({ at, ms }) => at + ms));
  if (runs.length === 0 && calls.length > 0) span("run", first, last - first);

  const open = { run: 0, cpi: 0, agent: 0 };
  const sums = { cpi: 0, agent: 0, director: 0 };
  let before = 0;
  for (const { at, who, by } of turns.sort((a, b) => a.at - b.at)) {
    share(at - before, open, sums);
    open[who] += by;
    before = at;
  }
  return { ...sums, total: sums.cpi + sums.agent + sums.director };
}

function share(
  ms: number,
  open: Readonly<Record<"run" | "cpi" | "agent", number>>,
  sums: Record<"cpi" | "agent" | "director", number>,
): void {
  const busy = (["cpi", "agent"] as const).filter((who) => open[who] > 0);
  for (const who of busy) sums[who] += ms / busy.length;
  if (busy.length === 0 && open.run > 0) sums.director += ms;
}
