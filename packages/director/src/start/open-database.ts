import { mkdir } from "node:fs/promises";
import { lockState, openEmbedded } from "../store/embedded/open.ts";
import type { StartOptions } from "./director.ts";

/** The one of the configuration, or one of our own in the state directory. */
export async function openDatabase(
  { config, stateDir, clock }: Pick<StartOptions, "config" | "stateDir" | "clock">,
  onLost: (error: unknown) => void,
) {
  const url = config.database?.url;
  if (url === undefined) return await openEmbedded({ stateDir, clock, onLost });
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const lock = await lockState(stateDir, clock);
  return {
    connection: { connectionString: url },
    adopted: false,
    trouble: () => undefined,
    close: () => lock.release(),
  };
}
