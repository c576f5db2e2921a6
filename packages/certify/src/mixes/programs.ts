import { existsSync } from "node:fs";
import { join } from "node:path";
import { ProgramMissing } from "../errors.ts";

/** The programs as they are delivered. */
export interface MixPrograms {
  readonly director: string;
  /** For `create-env`. */
  readonly slipway: string;
  readonly cpi: string;
  readonly agent: string;
}

/** Returns the Director and the agent beside this package, with the given CPI. */
export const programsIn = (packages: string, cpi: string): MixPrograms => ({
  director: join(packages, "director/dist/slipway-director.cjs"),
  slipway: join(packages, "cli/dist/slipway.cjs"),
  cpi,
  agent: join(packages, "agent/dist/slipway-agent.cjs"),
});

export function mustBeBuilt(programs: MixPrograms): void {
  for (const path of Object.values(programs) as string[])
    if (!existsSync(path)) throw ProgramMissing({ path });
}
