import { type Agreement, negotiate } from "./negotiate.ts";

/** Old or new; 2 stands for 2 and newer. */
export type Age = 1 | 2;

export interface RecordedMix {
  /** 1 to 8, in the order of the table everybody knows. */
  readonly number: number;
  readonly director: Age;
  readonly cpi: Age;
  readonly stemcell: Age;
  readonly agreed: Agreement;
}

const AGES: readonly Age[] = [1, 2];

/** The eight mixes of old and new Director, CPI and stemcell, and what each of them means. */
export const MIXES: readonly RecordedMix[] = AGES.flatMap((director) =>
  AGES.flatMap((cpi) => AGES.map((stemcell) => ({ director, cpi, stemcell }))),
).map((mix, at) => {
  const agreed = negotiate({ ...mix, director: { min: 1, max: mix.director, registry: true } });
  if (agreed.outcome === "refused") throw new Error(`bug: mix ${at + 1}: ${agreed.problems.join("; ")}`);
  return { ...mix, number: at + 1, agreed };
});

/** Versions of one VM. */
export interface VmVersions {
  /** `shop: db/0`. */
  readonly name: string;
  /** CPI API version that the Director and the CPI agreed on. */
  readonly apiVersion: number;
  readonly stemcell: number;
}

const age = (version: number): Age => (version < 2 ? 1 : 2);

/**
 * Returns the rows that a VM may run in. The agreed version is the smaller of two: below 2, a new Director means an old CPI.
 * With an old Director, the CPI's own version is unknown, and either of two rows applies.
 */
export function rowsOf(vm: VmVersions, directorVersion: number): readonly RecordedMix[] {
  const director = age(directorVersion);
  const cpis: readonly Age[] = age(vm.apiVersion) === 2 ? [2] : director === 2 ? [1] : AGES;
  return MIXES.filter(
    (row) => row.director === director && cpis.includes(row.cpi) && row.stemcell === age(vm.stemcell),
  );
}
