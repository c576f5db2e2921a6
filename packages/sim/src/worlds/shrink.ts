import type { HistoryPlan } from "./plan.ts";

/** Plans that are smaller by one thing. Those that take away most come first. */
function smaller(plan: HistoryPlan): readonly HistoryPlan[] {
  const without = <T>(all: readonly T[], from: number, count: number) =>
    all.filter((_, at) => at < from || at >= from + count);
  const halves = plan.operators.length > 3 ? [Math.floor(plan.operators.length / 2)] : [];
  return [
    ...(plan.kills.length > 0 ? [{ ...plan, kills: [] }] : []),
    ...(plan.faults.length > 0 ? [{ ...plan, faults: [] }] : []),
    ...halves.flatMap((count) => [
      { ...plan, operators: plan.operators.slice(count) },
      { ...plan, operators: plan.operators.slice(0, count) },
    ]),
    ...plan.operators.map((_, at) => ({ ...plan, operators: without(plan.operators, at, 1) })),
    ...plan.kills.map((_, at) => ({ ...plan, kills: without(plan.kills, at, 1) })),
    ...plan.faults.map((_, at) => ({ ...plan, faults: without(plan.faults, at, 1) })),
    ...(plan.disorder > 0 ? [{ ...plan, disorder: 0 }] : []),
    ...(plan.snapshots ? [{ ...plan, snapshots: false }] : []),
    ...(plan.cpi.remembers ? [] : [{ ...plan, cpi: { ...plan.cpi, remembers: true } }]),
    ...(plan.cpi.resizes ? [{ ...plan, cpi: { ...plan.cpi, resizes: false } }] : []),
    ...plan.operators.flatMap((one, at) =>
      one.after === null
        ? []
        : [
            {
              ...plan,
              operators: plan.operators.map((other, to) => (to === at ? { ...one, after: null } : other)),
            },
          ],
    ),
  ];
}

/** Returns a plan that is still broken and of which nothing more can be taken away, or `most` tries later the smallest so far. */
export async function shrink(
  plan: HistoryPlan,
  isBroken: (plan: HistoryPlan) => Promise<boolean>,
  most = 150,
): Promise<HistoryPlan> {
  let best = plan;
  let tries = 0;
  for (;;) {
    let found: HistoryPlan | undefined;
    for (const one of smaller(best)) {
      tries += 1;
      if (tries > most) return best;
      if (!(await isBroken(one))) continue;
      found = one;
      break;
    }
    if (found === undefined) return best;
    best = found;
  }
}
