import { realpath } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { places } from "./places.ts";
import { livingPostmaster } from "./postmaster.ts";
import { stopServer } from "./server.ts";

const STOP_MS = 20_000;

/** The process of the server that belongs to a state directory, if it runs. */
export async function databaseOf(stateDir: string): Promise<number | undefined> {
  try {
    return await livingPostmaster(places(await realpath(stateDir)).data);
  } catch (error) {
    // As another user nothing can be said about it.
    if (systemCode(error) === "ENOENT" || systemCode(error) === "EACCES") return undefined;
    throw error;
  }
}

/** Stops the server that a killed Director has left running. Its pid, or nothing where none ran. */
export async function stopLeftDatabase(stateDir: string, clock: Clock): Promise<number | undefined> {
  const pid = await databaseOf(stateDir);
  if (pid === undefined) return undefined;
  await stopServer(pid, { at: places(await realpath(stateDir)), clock, stopMs: STOP_MS });
  return pid;
}
