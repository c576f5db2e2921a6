import type { HistoryPlan } from "./plan.ts";

/** Minimized histories that once broke an invariant, by what was wrong then. */
export const REGRESSIONS: Readonly<Record<string, HistoryPlan>> = {};
