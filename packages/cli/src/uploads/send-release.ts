import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { packageMatches } from "@slipway/protocol/director/release";
import type { ApiRequest, DirectorApi } from "../api/director-api.ts";
import { refusalOf } from "../api/refusal.ts";
import { runTask } from "../api/run-task.ts";
import { expanded } from "../interpolate/read-text.ts";
import { type BuiltRelease, isCompiled, manifestText } from "../releases/built-release.ts";
import { clonedFrom } from "../releases/clone.ts";
import { lastBuilt } from "../releases/last-built.ts";
import { withTarball } from "../releases/open-tarball.ts";
import { openReleaseDirectory } from "../releases/release-directory.ts";
import { writeReleaseTarball } from "../releases/write-tarball.ts";
import type { Tools } from "../tools.ts";
import { listReleases, readRelease } from "./list-releases.ts";

export interface SentRelease {
  /** A file, a URL of any kind, or nothing: then it is the last one of the directory. */
  readonly from: string;
  readonly dir?: string | undefined;
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly sha1?: string | undefined;
  /** `os/version` */
  readonly stemcell?: string | undefined;
  readonly fix: boolean;
  readonly rebase: boolean;
}

/** Uploads a release. As upstream's CLI, looks for an existing one by the given name and version, also for files. */
export async function sendRelease(wanted: SentRelease, tools: Tools): Promise<void> {
  const { from, name, version, stemcell, fix } = wanted;
  const api = await tools.director();
  const named = name !== undefined && version !== undefined;
  if (!fix && named && (await releaseThere(api, name, version, stemcell))) {
    const what = stemcell === undefined ? "" : ` for stemcell '${stemcell}'`;
    tools.ui.line(`Release '${name}/${version}'${what} already exists.`);
    return;
  }
  if (/^https?:\/\//i.test(from)) {
    const body = JSON.stringify({ location: from, sha1: wanted.sha1 });
    await runTask(api, { ...request(wanted), contentType: "application/json", body });
  } else if (/^git(?:\+|@|:\/\/)/.test(from)) {
    const options = { exec: systemExec, env: tools.env, stop: tools.stop };
    await clonedFrom(from.replace(/^git\+/, ""), options, (dir) =>
      sendFromDirectory({ ...wanted, dir }, api, tools),
    );
  } else if (from === "") {
    await sendFromDirectory(wanted, api, tools);
  } else {
    const file = resolve(expanded(from.replace(/^file:\/\//, "")));
    await withTarball(file, tools.stop, (release) => sendBuilt(release, wanted, api, tools, file));
  }
}

async function sendFromDirectory(wanted: SentRelease, api: DirectorApi, tools: Tools): Promise<void> {
  const directory = await openReleaseDirectory(wanted.dir, { ...tools, exec: systemExec });
  await sendBuilt(await lastBuilt(directory, wanted), wanted, api, tools);
}

type How = Pick<SentRelease, "fix" | "rebase">;

/** `file`: the release as it is, which is sent unless something of it can be left out. */
export async function sendBuilt(
  release: BuiltRelease,
  wanted: How,
  api: DirectorApi,
  { random }: Pick<Tools, "random">,
  file?: string,
): Promise<void> {
  const known = wanted.fix ? new Set<string>() : await knownPackages(release, api);
  if (file !== undefined && known.size === 0) return await sendFile(file, wanted, api);
  const dir = await mkdtemp(join(tmpdir(), "slipway-upload-"));
  try {
    const partial = join(dir, "release.tgz");
    await writeReleaseTarball(partial, release, random, known);
    await sendFile(partial, wanted, api);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Fingerprints. A Director that cannot say gets all of it. */
async function knownPackages(release: BuiltRelease, api: DirectorApi): Promise<ReadonlySet<string>> {
  const path = isCompiled(release) ? "/packages/matches_compiled" : "/packages/matches";
  try {
    const body = manifestText(release);
    return new Set(await api.json({ method: "POST", path, contentType: "text/yaml", body }, packageMatches));
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return new Set();
  }
}

async function sendFile(file: string, wanted: How, api: DirectorApi): Promise<void> {
  const body = createReadStream(file);
  await runTask(api, { ...request(wanted), contentType: "application/x-compressed", body });
}

const request = ({ fix, rebase }: How): ApiRequest => ({
  method: "POST",
  path: "/releases",
  query: { fix: fix ? "true" : undefined, rebase: rebase ? "true" : undefined },
});

/** Returns true if the Director has all of a release: its sources, or with a stemcell the packages compiled for exactly that. */
export async function releaseThere(
  api: DirectorApi,
  name: string,
  version: string,
  stemcell: string | undefined,
): Promise<boolean> {
  if (!(await listReleases(api)).some((one) => one.name === name && one.version === version)) return false;
  const { packages } = await readRelease(api, name, version);
  return packages.every(({ blobstore_id, compiled_packages = [] }) =>
    stemcell === undefined
      ? Boolean(blobstore_id)
      : compiled_packages.some((one) => one.stemcell === stemcell),
  );
}
