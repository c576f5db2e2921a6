import { once } from "node:events";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { DiskFull, InitFailed, NotADatabase, OtherMajor } from "../errors.ts";
import { makePrivate, type Places } from "./places.ts";
import type { Programs } from "./programs.ts";
import { spawnAs } from "./run-as.ts";
import type { ServerUser } from "./user.ts";

const HALF = "data.new-";
/** Errors of a full disk: the second is the hint if only part of a write went through. */
export const NO_SPACE = /No space left on device|Check free disk space/;

/**
 * The data directory, made when it is not there. It is made under another name and renamed when it is whole, so that
 * one with the right name is always whole. It is on disk before it is used.
 */
export async function ensureData(
  at: Places,
  programs: Programs,
  user: ServerUser | undefined,
  durable: boolean,
): Promise<void> {
  // What a start that was killed has left. Only our own name, never served by anyone.
  for (const name of await readdir(at.root))
    if (name.startsWith(HALF)) await rm(join(at.root, name), { recursive: true, force: true, maxRetries: 5 });
  const version = await majorOf(at.data);
  if (version === undefined) return makeData(at, programs, user, durable);
  const needs = programs.version.split(".")[0] ?? "";
  if (version !== needs) throw OtherMajor({ dir: at.data, has: version, needs });
}

async function majorOf(data: string): Promise<string | undefined> {
  try {
    return (await readFile(join(data, "PG_VERSION"), "utf8")).trim();
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  const there = await readdir(data).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (there !== undefined) throw NotADatabase({ dir: data });
  return undefined;
}

async function makeData(
  at: Places,
  programs: Programs,
  user: ServerUser | undefined,
  durable: boolean,
): Promise<void> {
  const half = join(at.root, `${HALF}${systemRandom.hex(4)}`);
  try {
    await makePrivate(half, user);
    const args = ["-D", half, "-U", "slipway", "-A", "trust", "--locale=C", "--encoding=UTF8"];
    if (!durable) args.push("--no-sync");
    const { code, said } = await runInit(programs, user, args);
    if (code !== 0) {
      if (NO_SPACE.test(said)) throw DiskFull({ where: at.root });
      throw InitFailed({
        dir: at.root,
        said: said.trim().split("\n").slice(-6).join("; ") || `code ${code}`,
      });
    }
    await rename(half, at.data);
    if (durable) await syncDirectory(at.root);
  } catch (cause) {
    await rm(half, { recursive: true, force: true }).catch(() => undefined);
    if (systemCode(cause) === "ENOSPC") throw DiskFull({ where: at.root }, { cause });
    throw cause;
  }
}

async function runInit(programs: Programs, user: ServerUser | undefined, args: readonly string[]) {
  const child = spawnAs(programs, user, programs.initdb, args, "pipe");
  let said = "";
  child.stdout?.resume();
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said = (said + chunk).slice(-8000);
  });
  const [code] = (await once(child, "close").catch((cause: unknown) => {
    throw InitFailed({ dir: args[1] ?? "", said: "initdb cannot be started" }, { cause });
  })) as [number | null];
  return { code: code ?? 1, said };
}
