import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostRoot, hostRootId } from "@slipway/cpi-docker/stemcells/host-root";
import { systemClock } from "@slipway/kernel/clock";
import { withLock } from "@slipway/kernel/lock-file";

export const AGENT_BUNDLE = fileURLToPath(new URL("../../agent/dist/slipway-agent.cjs", import.meta.url));

let made: Promise<string> | undefined;

/** A root file system with our agent in it, made once for all suites. The path of its tar. */
export const testImage = (): Promise<string> => (made ??= make());

async function make(): Promise<string> {
  const id = await hostRootId({ agent: AGENT_BUNDLE });
  const tar = join(tmpdir(), `slipway-docker-image-${id.slice(0, 16)}.tar`);
  await withLock(`${tar}.lock`, { clock: systemClock, waitMs: Number.POSITIVE_INFINITY }, async () => {
    if (!existsSync(tar)) await hostRoot({ agent: AGENT_BUNDLE, to: tar });
  });
  return tar;
}
