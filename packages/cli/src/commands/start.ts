import { join } from "node:path";
import { cpiLocal } from "@slipway/cpi-local/cpi-local";
import { embed } from "@slipway/cpi-sdk/embed";
import { type Io, runDirector } from "@slipway/director/start/command";

/** The Director with the local CPI in its own process: VMs are processes of this host. */
export function start(argv: readonly string[], agentBundle: string, io: Io): Promise<number> {
  return runDirector(
    argv,
    {
      name: "slipway start",
      embeddedCpi: (stateDir) => {
        const config = {
          cloud: { properties: { local: { dir: join(stateDir, "local"), agent: agentBundle } } },
        };
        return { name: "local", open: (around) => embed(cpiLocal, { ...around, config }) };
      },
    },
    io,
  );
}
