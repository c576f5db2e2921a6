import { readdir, readFile, readlink } from "node:fs/promises";
import type { Paths } from "../../../paths.ts";
import { mountTable } from "./mounts.ts";
import { attribute, entries } from "./sysfs.ts";

const MOST = 10;

/** Returns what keeps a mount busy: processes with open or mapped files or directories of it, and mounts below it. */
export async function holdersOf(paths: Paths, target: string): Promise<readonly string[]> {
  const inside = (path: string) => path === target || path.startsWith(`${target}/`);
  const below = (await mountTable(paths)).filter((mount) => mount.target.startsWith(`${target}/`));
  const holders = below.map((mount) => `the mount ${mount.target}`);
  for (const pid of await entries(paths.system("proc"))) {
    if (!/^\d+$/.test(pid) || holders.length >= MOST) continue;
    const use = await useOf(paths, pid, inside);
    if (use === undefined) continue;
    const name = (await attribute(paths.system("proc", pid, "comm"))) ?? "?";
    holders.push(`process ${pid} (${name}, ${use})`);
  }
  return holders;
}

/** Every `cp` of this machine, as its mounts make it one, whose last argument is this place. */
export async function copiersTo(paths: Paths, target: string): Promise<readonly string[]> {
  const mounts = (pid: string) => linked(paths.system("proc", pid, "ns", "mnt"));
  const own = await mounts("self");
  const copiers: string[] = [];
  for (const pid of await entries(paths.system("proc"))) {
    if (!/^\d+$/.test(pid)) continue;
    const line = await readFile(paths.system("proc", pid, "cmdline"), "utf8").catch(() => "");
    const [program = "", ...args] = line.split("\0").slice(0, -1);
    if (!/(^|\/)cp$/.test(program) || args.at(-1) !== target) continue;
    // Another sandbox calls its own directory the same.
    if ((await mounts(pid)) === own) copiers.push(`process ${pid} (cp, copies to ${target})`);
  }
  return copiers;
}

async function useOf(
  paths: Paths,
  pid: string,
  inside: (path: string) => boolean,
): Promise<string | undefined> {
  for (const [link, use] of Object.entries({ cwd: "works in", root: "has its root in", exe: "runs" })) {
    const path = await linked(paths.system("proc", pid, link));
    if (path !== undefined && inside(path)) return `${use} ${path}`;
  }
  for (const fd of await readdir(paths.system("proc", pid, "fd")).catch(() => [])) {
    const path = await linked(paths.system("proc", pid, "fd", fd));
    if (path !== undefined && inside(path)) return `has ${path} open`;
  }
  const maps = await readFile(paths.system("proc", pid, "maps"), "utf8").catch(() => "");
  for (const line of maps.split("\n")) {
    const path = line.slice(line.indexOf("/"));
    if (line.includes("/") && inside(path)) return `has ${path} mapped`;
  }
  return undefined;
}

/** Processes end while we look, and those of others may be closed to us. */
const linked = (path: string) => readlink(path).catch(() => undefined);
