import { rename, stat } from "node:fs/promises";
import { fileDigest } from "@slipway/engine/stemcells/digest";
import type { Clock } from "@slipway/kernel/clock";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import type { BuiltStemcell } from "./build-local.ts";
import { type DebianOrder, type DebianRoot, debianRoot } from "./debian/root.ts";
import { dockerManifest, type StemcellName } from "./docker-manifest.ts";
import { BadStemcellOption } from "./errors.ts";
import { withWorkDir } from "./work-dir.ts";
import { writeArchive } from "./write-archive.ts";

export const DOCKER_STEMCELL = { suite: "bookworm", version: "1.0", apiVersion: 3 } as const;

export interface DockerStemcellOrder extends Omit<DebianOrder, "suite" | "exec" | "root"> {
  /** The .tgz; what is there is replaced. */
  readonly to: string;
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly apiVersion?: number | undefined;
  /** Release of Debian; default: bookworm. */
  readonly suite?: string | undefined;
  /** Only the image of it, a gzipped tar: for machine images. */
  readonly rootOnly?: boolean;
  readonly clock: Clock;
  readonly exec?: Exec;
  readonly root?: boolean;
}

const osOf = (suite: string): string => `debian-${suite}`;
export const dockerName = (suite: string): string => `slipway-docker-${osOf(suite)}`;

/** Writes a stemcell for the Docker CPI, from Debian packages. The same packages give the same bytes. */
export async function buildDockerStemcell(order: DockerStemcellOrder): Promise<BuiltStemcell> {
  const { to, clock, exec = systemExec, root = process.getuid?.() === 0 } = order;
  const began = clock.monotonic();
  const suite = order.suite ?? DOCKER_STEMCELL.suite;
  const about = {
    name: order.name ?? dockerName(suite),
    version: order.version ?? DOCKER_STEMCELL.version,
    os: osOf(suite),
    apiVersion: order.apiVersion ?? DOCKER_STEMCELL.apiVersion,
  };
  check(order, suite);
  // Said before the work is done.
  dockerManifest(about, "0".repeat(40));
  return await withWorkDir(to, async (workDir) => {
    const made = await debianRoot({ ...order, suite, exec, root }, workDir);
    const written = await (order.rootOnly ? keepImage(to, made) : keepStemcell(to, made, about));
    return {
      ...{ ...about, ...written, file: to },
      root: { size: made.size, packages: made.packages.length },
      ms: clock.monotonic() - began,
    };
  });
}

async function keepStemcell(to: string, made: DebianRoot, about: StemcellName) {
  return await writeArchive(to, [
    { name: "stemcell.MF", text: dockerManifest(about, await fileDigest(made.path, "sha1")) },
    { name: "packages.txt", text: `${made.packages.join("\n")}\n` },
    { name: "image", path: made.path },
  ]);
}

async function keepImage(to: string, { path }: DebianRoot) {
  const { size } = await stat(path);
  const sha1 = await fileDigest(path, "sha1");
  await rename(path, to);
  return { size, sha1 };
}

const SUITE = /^[a-z][a-z0-9-]{1,30}$/;
const MIRROR = /^(https?|file|copy):\/\/[^\s"'\\[\]]+$/;
const PACKAGE = /^[a-z0-9][a-z0-9+.-]+$/;

/** All of these become words of another program. */
function check({ mirror, packages = [] }: DockerStemcellOrder, suite: string): void {
  const bad = (option: string, why: string) => BadStemcellOption({ option, why });
  if (!SUITE.test(suite)) throw bad("suite", `"${suite}" is no release of Debian, such as bookworm`);
  if (mirror !== undefined && !MIRROR.test(mirror))
    throw bad("mirror", "it is no address such as http://deb.debian.org/debian");
  const wrong = packages.find((name) => !PACKAGE.test(name));
  if (wrong !== undefined) throw bad("package", `"${wrong}" is no name of a Debian package`);
}
