import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";

const built = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** The programs as they are delivered. */
export const PROGRAMS = {
  slipway: built("cli/dist/slipway.cjs"),
  director: built("director/dist/slipway-director.cjs"),
  cpi: built("cpi-local/dist/cpi.cjs"),
  dockerCpi: built("cpi-docker/dist/cpi.cjs"),
  agent: built("agent/dist/slipway-agent.cjs"),
};

/** Returns true if the stories can run here: with the CLI of `npm run test:bosh-cli`, and our programs built. */
export async function canPlay(): Promise<boolean> {
  const bosh = process.env.SLIPWAY_BOSH ?? "";
  if (!needs("bosh-cli", bosh !== "", "`npm run test:bosh-cli` brings it")) return false;
  const missing = Object.values(PROGRAMS).find((path) => !existsSync(path));
  if (missing !== undefined) throw new Error(`${missing} is not built: run npm run test:bosh-cli`);
  return needs("bosh-cli", await canUseSandboxes(), "VMs are processes with mounts of their own");
}
