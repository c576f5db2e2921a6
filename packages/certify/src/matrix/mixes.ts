/** The eight mixes of old (1) and new (2) Director, CPI and stemcell, in the order of the reference table. */
export interface MixOf8 {
  readonly director: 1 | 2;
  readonly cpi: 1 | 2;
  readonly stemcell: 1 | 2;
}

export const EIGHT_MIXES: readonly MixOf8[] = ([1, 2] as const).flatMap((director) =>
  ([1, 2] as const).flatMap((cpi) => ([1, 2] as const).map((stemcell) => ({ director, cpi, stemcell }))),
);
