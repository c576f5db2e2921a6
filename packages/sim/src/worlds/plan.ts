import { seededRandom } from "../drivers/seeded-random.ts";

/** Deeds of operators, or of the world by itself. The number is how often, relative to the others. */
export const OPERATORS = {
  deploy: 12,
  recreate: 2,
  change_state: 3,
  change_instance: 3,
  attach_disk: 3,
  orphan_disk: 2,
  delete_orphan_disks: 2,
  clean_old_disks: 2,
  clean_up: 2,
  scan: 1,
  resolve: 2,
  resurrect: 2,
  delete_vm: 1,
  delete_orphaned_vms: 1,
  delete_deployment: 1,
  snapshot: 2,
  delete_snapshots: 1,
  upload_stemcell: 1,
  delete_stemcell: 1,
  upload_release: 1,
  delete_release: 1,
  run_errand: 1,
  cancel: 1,
  lose_vm: 1,
  deafen_agent: 1,
} as const;
export type OperatorKind = keyof typeof OPERATORS;

export const CPI_FAULTS = ["refused", "retry", "lost before", "lost after"] as const;
export const AGENT_FAULTS = ["exception", "silent before", "silent after", "dead"] as const;

/** One history: everything that the seed decides, as data, so that it can be made smaller and kept. */
export interface HistoryPlan {
  /** Seed of ids and of the order of calls. */
  readonly seed: string;
  readonly cpi: { readonly remembers: boolean; readonly resizes: boolean };
  readonly snapshots: boolean;
  /** Probability that a call is not taken in the order in which calls were made; 0: never. */
  readonly disorder: number;
  readonly operators: readonly {
    /** Seed of its details, together with the history's. */
    readonly id: number;
    readonly kind: OperatorKind;
    /** Calls that pass after the previous operator before this one begins; null: all others have ended. */
    readonly after: number | null;
  }[];
  /** `call`: number of the call to a CPI or an agent that fails. `fault`: index into the faults of its kind. */
  readonly faults: readonly { readonly call: number; readonly fault: number }[];
  /** `step`: number of the call or statement at which the Director is killed. */
  readonly kills: readonly { readonly step: number; readonly when: "before" | "after" }[];
}

const KINDS = Object.entries(OPERATORS).flatMap(([kind, weight]) =>
  Array.from({ length: weight }, () => kind as OperatorKind),
);

export type Chance = ReturnType<typeof chance>;

/** Draws from a seed. */
export function chance(seed: string) {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.min(count - 1, Math.floor(random.fraction() * count));
  return {
    below,
    /** True with this probability. */
    hits: (probability: number): boolean => random.fraction() < probability,
    pick: <T>(all: readonly T[]): T => {
      const found = all[below(all.length)];
      if (found === undefined) throw new Error("bug: nothing to pick from");
      return found;
    },
  };
}

export const isUpload = (kind: OperatorKind | undefined): boolean =>
  kind === "upload_stemcell" || kind === "upload_release";

/** The history of a seed. */
export function planOf(seed: string): HistoryPlan {
  const { below, hits, pick } = chance(`plan ${seed}`);
  const count = 2 + below(7);
  const isCalm = hits(0.2);
  return {
    seed,
    cpi: { remembers: hits(0.8), resizes: hits(0.3) },
    snapshots: hits(0.3),
    disorder: pick([0, 0.05, 0.3, 1]),
    operators: Array.from({ length: count }, (_, id) => ({
      id,
      kind: id === 0 ? "deploy" : pick(KINDS),
      after: hits(0.3) ? null : below(70),
    })).map((one, at, all) => ({
      ...one,
      // Archives are unpacked in threads, whose speed must not decide anything: uploads run alone.
      after: isUpload(one.kind) || isUpload(all[at - 1]?.kind) ? null : one.after,
    })),
    faults: isCalm
      ? []
      : Array.from({ length: below(7) }, () => ({ call: 1 + below(100), fault: below(12) })),
    kills: isCalm
      ? []
      : Array.from({ length: below(4) }, () => ({
          step: 1 + below(320),
          when: pick(["before", "after"] as const),
        })),
  };
}
