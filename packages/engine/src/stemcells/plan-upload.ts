import type { CpiName } from "../model/names.ts";
import { FormatUnsupported } from "./errors.ts";

export interface CpiFormats {
  readonly name: CpiName;
  /** Undefined: the CPI does not say, so it is asked. */
  readonly formats: readonly string[] | undefined;
}

export interface CpiUpload {
  readonly cpi: CpiName;
  /** `exists`: it has the stemcell; `unsupported`: it takes none of its formats. */
  readonly what: "create" | "exists" | "unsupported";
}

/** Decides which CPIs get a stemcell. Throws error 50008 if no CPI can take it. */
export function planUpload(
  formats: readonly string[] | undefined,
  cpis: readonly CpiFormats[],
  existing: readonly CpiName[],
  fix: boolean,
): readonly CpiUpload[] {
  const plan = cpis.map((cpi): CpiUpload => {
    if (!takes(cpi, formats)) return { cpi: cpi.name, what: "unsupported" };
    return { cpi: cpi.name, what: !fix && existing.includes(cpi.name) ? "exists" : "create" };
  });
  if (plan.some(({ what }) => what !== "unsupported")) return plan;
  const supported = [...new Set(cpis.flatMap((cpi) => cpi.formats ?? []))];
  throw FormatUnsupported({ formats: formats ?? [], supported });
}

/** When one side does not say, it is tried. */
function takes(cpi: CpiFormats, formats: readonly string[] | undefined): boolean {
  const theirs = cpi.formats ?? [];
  const ours = formats ?? [];
  return theirs.length === 0 || ours.length === 0 || ours.some((format) => theirs.includes(format));
}
