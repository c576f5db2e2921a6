import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { EPOCH, type ImageFile } from "@slipway/cpi-docker/image-files";
import { CommandMissing, type Exec, mustRun } from "@slipway/kernel/exec";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import { NoBootstrap, RootNotBuilt } from "../errors.ts";
import { machineApt } from "./machine-apt.ts";
import { packagesOf } from "./packages.ts";
import { FILES_TAR, MERGED_USR, planBootstrap, ROOT_TAR } from "./plan.ts";
import { overDebian } from "./root-files.ts";
import { linesOf, mirrorLines, officialLines } from "./sources.ts";

export interface DebianOrder {
  /** Release of Debian, such as `bookworm`. */
  readonly suite: string;
  /** In place of what the machine itself gets its packages from. */
  readonly mirror?: string | undefined;
  /** Packages besides those that every image has. */
  readonly packages?: readonly string[];
  /** The agent's bundle, and the Node.js that runs it. */
  readonly agent: string;
  readonly node: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exec: Exec;
  readonly stop?: AbortSignal | undefined;
  /** True if this process is root; otherwise the work is done in a user namespace. */
  readonly root: boolean;
}

export interface DebianRoot {
  /** A gzipped tar. */
  readonly path: string;
  /** Unpacked. */
  readonly size: number;
  readonly packages: readonly string[];
}

/** A root file system of Debian packages with the agent in it; the same packages give the same bytes. */
export async function debianRoot(order: DebianOrder, workDir: string): Promise<DebianRoot> {
  const { suite, mirror, packages = [], exec, stop } = order;
  await mustHaveBootstrap(exec);
  const apt = await machineApt(exec, order.env);
  const own = linesOf(suite, apt.sources);
  const lines =
    mirror !== undefined
      ? mirrorLines(suite, mirror, apt.keyring)
      : own.length > 0
        ? own
        : officialLines(suite, apt.keyring);
  await writeInside(overDebian(order), join(workDir, FILES_TAR));
  const { args, env, input } = planBootstrap({
    suite,
    lines,
    more: packages,
    root: order.root,
    checkValidUntil: apt.checkValidUntil,
    mergedUsr: existsSync(MERGED_USR),
    env: { ...apt.proxies, ...temporary(order, workDir) },
  });
  // What it mounts must not outlive it, nor be seen by the machine.
  const [program, first] = order.root ? ["unshare", ["--mount", "mmdebstrap"]] : ["mmdebstrap", []];
  const made = await exec(program, [...first, ...args], { cwd: workDir, env, input, signal: stop });
  if (made.code !== 0) throw RootNotBuilt({ suite, code: made.code, said: endOf(made.stderr) });
  const tar = join(workDir, ROOT_TAR);
  const status = await mustRun(
    exec,
    "listing the packages of the root file system",
    "tar",
    ["-xOf", tar, "--occurrence=1", "./var/lib/dpkg/status"],
    { keep: 64 << 20 },
  );
  const path = join(workDir, "image");
  await pipeline(createReadStream(tar), createGzip({ level: 6 }), createWriteStream(path, { flags: "wx" }));
  return { path, size: (await stat(tar)).size, packages: packagesOf(status.stdout) };
}

async function mustHaveBootstrap(exec: Exec): Promise<void> {
  await exec("mmdebstrap", ["--version"]).catch((cause: unknown) => {
    throw CommandMissing.is(cause) ? NoBootstrap({ program: "mmdebstrap" }, { cause }) : cause;
  });
}

/** In a user namespace the root belongs to other users, who may not reach the work directory. */
const temporary = ({ root, env }: DebianOrder, workDir: string): Readonly<Record<string, string>> =>
  root ? { TMPDIR: workDir } : env.TMPDIR === undefined ? {} : { TMPDIR: env.TMPDIR };

async function writeInside(files: readonly ImageFile[], to: string): Promise<void> {
  await pipeline(tarBytes(files.map(input), EPOCH), createWriteStream(to, { flags: "wx" }));
}

const input = (file: ImageFile): TarInput =>
  "text" in file ? { ...file, type: "text" } : { ...file, type: "file" };

const MOST = 2000;

/** The last of what it said but its progress; addresses without the passwords in them. */
const endOf = (said: string): string =>
  said
    .replace(/^I: .*\n?/gm, "")
    .replace(/:\/\/[^/\s@]+@/g, "://")
    .trim()
    .slice(-MOST) || "nothing";
