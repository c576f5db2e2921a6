import { readdir, readFile, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { ifThere } from "@slipway/kernel/files";
import { isTaken } from "@slipway/kernel/ports";
import type { Home } from "../home/home.ts";
import { BadPort, PortInUse } from "./errors.ts";

const DEFAULT_PORT = 25555;

const portFile = (home: Home): string => join(home.dir, "port");

/** Parses the port that the user typed; undefined if it was left out. */
export function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const port = Number(given);
  if (!/^\d{1,5}$/.test(given) || port > 65535) throw BadPort({ given });
  return port;
}

/** The one asked for, of the configuration, of the last time, or upstream's. */
export async function choosePort(
  home: Home,
  asked: number | undefined,
  configured: number | undefined,
): Promise<number> {
  return asked ?? configured ?? (await rememberedPort(home)) ?? DEFAULT_PORT;
}

async function rememberedPort(home: Home): Promise<number | undefined> {
  const noted = await ifThere(readFile(portFile(home), "utf8"));
  const port = Number(noted?.trim());
  return Number.isInteger(port) && port > 0 && port < 65536 ? port : undefined;
}

export const rememberPort = (home: Home, port: number): Promise<void> =>
  writeFileAtomic(portFile(home), `${port}\n`);

/** Checks a port before anything is started, so that the error comes at once and names the program that has it. */
export async function mustBeFree(host: string, port: number): Promise<void> {
  if (port === 0 || !(await isTaken(host, port))) return;
  throw PortInUse({ host, port, holder: (await holderOf(port)) ?? "another program" });
}

const LISTENING = "0A";

/** Describes the program that listens on a port of this machine; undefined if the system does not say. */
export async function holderOf(port: number): Promise<string | undefined> {
  const sockets = new Set<string>();
  for (const table of ["tcp", "tcp6"])
    for (const inode of listeners(await textOf(`/proc/net/${table}`), port)) sockets.add(`socket:[${inode}]`);
  if (sockets.size === 0) return undefined;
  for (const pid of await namesIn("/proc"))
    if (/^\d+$/.test(pid) && (await holds(pid, sockets)))
      return `process ${pid} (${programOf(await textOf(`/proc/${pid}/cmdline`))})`;
  return undefined;
}

/** Socket inodes of a table of /proc/net whose local port is this one. */
function listeners(table: string, port: number): readonly string[] {
  return table
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local = "", , state]) =>
        state === LISTENING && Number.parseInt(local.split(":")[1] ?? "", 16) === port,
    )
    .flatMap((fields) => fields[9] ?? []);
}

async function holds(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  for (const fd of await namesIn(`/proc/${pid}/fd`))
    if (sockets.has(await readlink(`/proc/${pid}/fd/${fd}`).catch(() => ""))) return true;
  return false;
}

/** Returns the program without its arguments, which may be secret. A script is named with its interpreter. */
function programOf(cmdline: string): string {
  const [program = "", first = ""] = cmdline.split("\0");
  const script = /\.(c|m)?js$|\.py$|\.rb$/.test(first) ? ` ${basename(first)}` : "";
  return `${basename(program)}${script}` || "unknown program";
}

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
const namesIn = (path: string): Promise<readonly string[]> => readdir(path).catch(() => []);
