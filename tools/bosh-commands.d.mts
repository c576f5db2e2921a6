export declare const BOSH_COMMANDS: readonly {
  readonly name: string;
  /** Of `packages/cli/src/bosh-cli`. */
  readonly story: string;
  readonly verdict: "works" | "differs" | "refused";
  readonly what: string;
}[];
