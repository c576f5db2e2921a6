import type { HistoryPlan } from "./plan.ts";

/** Minimized histories that once broke an invariant, by what was wrong then. */
export const REGRESSIONS: Readonly<Record<string, HistoryPlan>> = {
  "clean-up removes the stemcell that a deploy has just chosen": {
    seed: "run3-125",
    cpi: { remembers: true, resizes: false },
    snapshots: false,
    disorder: 0,
    operators: [
      { id: 0, kind: "deploy", after: null },
      { id: 1, kind: "clean_up", after: 10 },
    ],
    faults: [],
    kills: [],
  },
  "a refusal while create_vm is settled counts as proof that there is no VM": {
    seed: "run4-79",
    cpi: { remembers: true, resizes: false },
    snapshots: false,
    disorder: 0.3,
    operators: [
      { id: 0, kind: "deploy", after: null },
      { id: 2, kind: "deploy", after: null },
      { id: 5, kind: "deploy", after: null },
    ],
    faults: [
      { call: 24, fault: 3 },
      { call: 31, fault: 9 },
      { call: 14, fault: 9 },
    ],
    kills: [],
  },
  "an open intent of a deleted deployment fails the next deploy of that name": {
    seed: "r75-52",
    cpi: { remembers: true, resizes: false },
    snapshots: false,
    disorder: 0,
    operators: [
      { id: 0, kind: "deploy", after: null },
      { id: 1, kind: "deploy", after: null },
      { id: 2, kind: "resurrect", after: null },
      { id: 3, kind: "orphan_disk", after: null },
      { id: 4, kind: "deploy", after: null },
      { id: 5, kind: "resurrect", after: null },
      { id: 6, kind: "delete_deployment", after: 27 },
    ],
    faults: [
      { call: 68, fault: 1 },
      { call: 54, fault: 10 },
      { call: 40, fault: 4 },
    ],
    kills: [{ step: 214, when: "after" }],
  },
  "a disk is mounted as the target of a migration, beside one whose mount was not answered": {
    seed: "s37b-2522",
    cpi: { remembers: true, resizes: false },
    snapshots: false,
    disorder: 1,
    operators: [
      { id: 0, kind: "deploy", after: null },
      { id: 1, kind: "deploy", after: 22 },
    ],
    faults: [{ call: 59, fault: 6 }],
    kills: [
      { step: 17, when: "after" },
      { step: 61, when: "after" },
      { step: 157, when: "after" },
    ],
  },
};
