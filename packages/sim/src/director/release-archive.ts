import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { tarBytes } from "@slipway/kernel/tar/write";

export interface JobSketch {
  readonly name: string;
  /** Contents of job.MF beside the name. */
  readonly spec: object;
  readonly monit: string;
  /** Templates by their path in the job. */
  readonly templates?: Readonly<Record<string, string>>;
}

export interface PackageSketch {
  readonly name: string;
  readonly dependencies?: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

export interface ReleaseSketch {
  readonly name: string;
  readonly version: string;
  readonly jobs: readonly JobSketch[];
  readonly packages: readonly PackageSketch[];
}

/** A release as it is uploaded. The same sketch gives the same bytes. */
export async function releaseArchive({ name, version, jobs, packages }: ReleaseSketch): Promise<Buffer> {
  const inner: Record<string, Buffer> = {};
  const entry = (one: string, path: string, bytes: Buffer) => {
    inner[path] = bytes;
    const hex = createHash("sha256").update(bytes).digest("hex");
    return { name: one, version: hex, fingerprint: hex, sha1: `sha256:${hex}` };
  };
  const manifest = {
    ...{ name, version, commit_hash: "non-git", uncommitted_changes: false },
    jobs: await Promise.all(
      jobs.map(async ({ name: job, spec, monit, templates = {} }) =>
        entry(
          job,
          `jobs/${job}.tgz`,
          await tarred({
            "job.MF": JSON.stringify({ name: job, ...spec }),
            monit,
            ...Object.fromEntries(
              Object.entries(templates).map(([path, text]) => [`templates/${path}`, text]),
            ),
          }),
        ),
      ),
    ),
    packages: await Promise.all(
      packages.map(async ({ name: one, dependencies = [], files }) => ({
        ...entry(one, `packages/${one}.tgz`, await tarred(files)),
        dependencies,
      })),
    ),
  };
  return await tarred({ "release.MF": JSON.stringify(manifest), ...inner });
}

async function tarred(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, text]) => ({
    type: "text" as const,
    name,
    mode: 0o644,
    text,
  }));
  return gzipSync(await buffer(tarBytes(entries, 0)));
}
