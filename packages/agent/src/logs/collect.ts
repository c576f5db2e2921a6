import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { mustRun } from "@slipway/kernel/exec";
import { BadRequest } from "../errors.ts";
import type { AgentServices } from "../services.ts";
import { globMatcher } from "./glob.ts";

interface LogHome {
  readonly dir: string;
  /** The folder names in the archive are relative to, and what they begin with. */
  readonly from: string;
  readonly prefix: string;
}

function homeOf(type: string, services: AgentServices): LogHome {
  switch (type) {
    case "job":
      return { dir: services.paths.sysLog, from: services.paths.sysLog, prefix: "" };
    case "agent":
      return { dir: services.paths.boshLog, from: services.paths.boshLog, prefix: "" };
    case "system":
      return { dir: services.paths.system("var", "log"), from: services.paths.root, prefix: "var/log/" };
    default:
      throw BadRequest({ why: "Invalid log type" });
  }
}

/** Returns true for the name of an archive that bundle_logs leaves on the VM. */
export const isLogArchive = (name: string): boolean => /^logs-[0-9a-f]+\.tgz$/.test(name);

/** Packs the logs of these types into a gzipped tar under the agent's own temporary directory. */
export async function packLogs(
  kind: "bundled" | "fetched",
  types: string,
  filters: readonly string[] | null | undefined,
  services: AgentServices,
  signal: AbortSignal,
): Promise<string> {
  const homes = types.split(",").map((type) => homeOf(type.trim(), services));
  const patterns = (filters?.length ? filters : ["**/*"]).map(globMatcher);
  await mkdir(services.paths.dataTmp, { recursive: true, mode: 0o770 });
  const id = services.random.hex(8);
  // The start of the agent takes away what is called so and was left by a crash.
  const archive = join(services.paths.dataTmp, `fetched-logs-${id}.tgz`);
  const lists = homes.map((_, at) => `${archive}.${at}`);
  try {
    // Only the owner may read logs of jobs. The user who gets the archive becomes its owner.
    await writeFile(archive, "", { mode: 0o600, flag: "wx" });
    const inputs: string[] = [];
    for (const [at, home] of homes.entries()) {
      const names = await chosen(home, patterns);
      if (names.length === 0) continue;
      // By a file: a command line has room for some thousand names only.
      await writeFile(lists[at] as string, names.map((name) => `./${home.prefix}${name}\0`).join(""));
      inputs.push("--directory", home.from, "--files-from", lists[at] as string);
    }
    const args = ["--create", "--gzip", "--file", archive, "--ignore-failed-read", "--null", ...inputs];
    if (inputs.length === 0) args.push("--files-from", "/dev/null");
    await tolerant(services, archive, args, signal);
    if (kind === "fetched") return archive;
    const whole = join(services.paths.dataTmp, `logs-${id}.tgz`);
    await rename(archive, whole);
    return whole;
  } catch (error) {
    await rm(archive, { force: true });
    throw error;
  } finally {
    for (const list of lists) await rm(list, { force: true });
  }
}

/** The files that a pattern names. Where that is a link to another log, the other one comes along. */
async function chosen(
  { dir }: LogHome,
  patterns: readonly ((name: string) => boolean)[],
): Promise<readonly string[]> {
  const names = new Set<string>();
  const real = await realpath(dir).catch(() => dir);
  for (const { name, link } of await filesUnder(dir, "")) {
    if (!patterns.some((matches) => matches(name))) continue;
    names.add(name);
    const target = link ? await realpath(join(dir, name)).catch(() => undefined) : undefined;
    if (target?.startsWith(`${real}/`) && (await lstat(target)).isFile())
      names.add(target.slice(real.length + 1));
  }
  return [...names];
}

/**
 * Packs with the VM's own tar: it copes with files that grow, shrink or disappear meanwhile, which our writer would
 * refuse. Exit code 1 says that a file changed while it was read, as logs do.
 */
async function tolerant(
  services: AgentServices,
  archive: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const result = await services.exec("tar", args, { signal });
  if (result.code > 1) await mustRun(async () => result, `packing logs into ${archive}`, "tar", args);
}

interface LogFile {
  readonly name: string;
  readonly link: boolean;
}

async function filesUnder(dir: string, below: string): Promise<readonly LogFile[]> {
  const found: LogFile[] = [];
  const entries = await readdir(join(dir, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesUnder(dir, name)));
    else if (entry.isFile() || entry.isSymbolicLink()) found.push({ name, link: entry.isSymbolicLink() });
  }
  return found;
}

export async function hexDigest(path: string, algorithm: "sha1" | "sha512"): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
