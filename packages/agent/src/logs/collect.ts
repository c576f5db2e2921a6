import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { mustRun } from "@slipway/kernel/exec";
import { BadRequest } from "../errors.ts";
import type { Services } from "../services.ts";
import { globToRegExp } from "./glob.ts";

interface LogHome {
  readonly dir: string;
  /** The folder names in the archive are relative to, and what they begin with. */
  readonly from: string;
  readonly prefix: string;
}

function homeOf(type: string, services: Services): LogHome {
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

/** Packs the logs of these types into a gzipped tar under the agent's own temporary directory. */
export async function packLogs(
  types: string,
  filters: readonly string[] | null | undefined,
  services: Services,
  signal: AbortSignal,
): Promise<string> {
  const homes = types.split(",").map((type) => homeOf(type.trim(), services));
  const patterns = (filters?.length ? filters : ["**/*"]).map(globToRegExp);
  await mkdir(services.paths.dataTmp, { recursive: true, mode: 0o770 });
  const archive = join(services.paths.dataTmp, `logs-${services.random.hex(8)}.tgz`);
  const inputs: string[] = [];
  for (const { dir, from, prefix } of homes) {
    const names = (await filesUnder(dir, "")).filter((name) =>
      patterns.some((pattern) => pattern.test(name)),
    );
    if (names.length > 0) inputs.push("--directory", from, ...names.map((name) => `./${prefix}${name}`));
  }
  const args = ["--create", "--gzip", "--file", archive, "--ignore-failed-read", ...inputs];
  if (inputs.length === 0) args.push("--files-from", "/dev/null");
  await tolerant(services, archive, args, signal);
  return archive;
}

/**
 * By the VM's own tar: it copes with files that grow, shrink or go away under it, and our writer would refuse them. Its
 * 1 says that a file changed while it was read, which logs do.
 */
async function tolerant(
  services: Services,
  archive: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const result = await services.exec("tar", args, { signal });
  if (result.code > 1) await mustRun(async () => result, `packing logs into ${archive}`, "tar", args);
}

async function filesUnder(dir: string, below: string): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(join(dir, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesUnder(dir, name)));
    else if (entry.isFile() || (entry.isSymbolicLink() && (await lstat(join(dir, name))).isSymbolicLink()))
      found.push(name);
  }
  return found;
}

export async function hexDigest(path: string, algorithm: "sha1" | "sha512"): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
