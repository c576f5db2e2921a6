import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Home } from "../home/home.ts";
import { PromiseBroken } from "./errors.ts";
import type { Sandbox } from "./sandbox.ts";

/** Looks whether a registry was involved, and says in words that none was. */
export async function noRegistry(home: Home, sandboxes: readonly Sandbox[]): Promise<string> {
  for (const { cid, channel } of sandboxes)
    if (channel !== "user-data") throw PromiseBroken({ what: `${cid} has its settings from the ${channel}` });
  // The Director makes it when it starts its registry for the first time.
  const dir = join(home.director, "registry");
  if (!existsSync(dir)) return "the registry was never started";
  const entries = join(dir, "entries");
  for (const name of await readdir(entries).catch(() => [])) {
    const text = await readFile(join(entries, name), "utf8").catch(() => "");
    const held = sandboxes.find(({ cid }) => text.includes(cid));
    if (held !== undefined) throw PromiseBroken({ what: `the registry holds something of ${held.cid}` });
  }
  return "the registry that runs here for others holds nothing of them";
}
