import { existsSync } from "node:fs";
import { join } from "node:path";
import { ProgramMissing } from "../errors.ts";

export const CLOUDS = ["local", "docker"] as const;
/** Which of our CPIs the mixes are played with. */
export type CloudName = (typeof CLOUDS)[number];

/** The programs as they are delivered. */
export interface Programs {
  readonly director: string;
  readonly cpi: string;
  readonly agent: string;
}

export const programsIn = (packages: string, cloud: CloudName): Programs => ({
  director: join(packages, "director/dist/slipway-director.cjs"),
  cpi: join(packages, `cpi-${cloud}/dist/cpi.cjs`),
  agent: join(packages, "agent/dist/slipway-agent.cjs"),
});

export function mustBeBuilt(programs: Programs): void {
  for (const path of Object.values(programs) as string[])
    if (!existsSync(path)) throw ProgramMissing({ path });
}
