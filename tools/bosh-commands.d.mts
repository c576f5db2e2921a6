import type { FlagVerdict } from "./bosh-runs.mjs";

export declare const BOSH_COMMANDS: readonly {
  readonly name: string;
  /** Of `packages/cli/src/bosh-cli`. */
  readonly story: string;
  readonly verdict: "works" | "differs" | "refused";
  readonly what: string;
  /** Of one that differs: the test that runs it. */
  readonly test?: string;
  /** Of one that is refused: with which words. */
  readonly says?: string;
}[];
export declare const FLAG_VERDICTS: readonly FlagVerdict[];
