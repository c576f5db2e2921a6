import { createHash } from "node:crypto";
import { fileEntry, tarball } from "./tarball.ts";

export interface MadeJob {
  /** Content of the job's spec file. */
  readonly spec: object;
  readonly monit: string;
  /** Templates by their path in templates/. */
  readonly templates: Readonly<Record<string, string>>;
  /** Its properties_schema.json. */
  readonly schema?: string;
  /** Unless it is given, that of its archive. */
  readonly fingerprint?: string;
}

export interface MadePackage {
  readonly dependencies?: readonly string[];
  /** Unless it is given, that of its archive. */
  readonly fingerprint?: string;
  /** Release.MF has it, the archive has not. */
  readonly leftOut?: boolean;
  readonly files: Readonly<Record<string, string>>;
}

export interface MadeRelease {
  readonly name: string;
  readonly version: string;
  readonly jobs: Readonly<Record<string, MadeJob>>;
  readonly packages: Readonly<Record<string, MadePackage>>;
  readonly commitHash?: string;
  /** `os/version`: its packages are compiled for it. */
  readonly compiledFor?: string;
}

/** Gives all files one time, so that the same files make the same archive. */
const files = (given: Readonly<Record<string, string>>) =>
  tarball(
    Object.entries(given)
      .map(([name, text]) => fileEntry(name, text))
      .map(({ header, body }) => ({ header: { ...header, mtime: new Date(0) }, body: body ?? "" })),
  );

/** A release as `bosh create-release --tarball` writes it. */
export async function releaseTarball(made: MadeRelease): Promise<Buffer> {
  const { name, version, jobs, packages, compiledFor } = made;
  const folder = compiledFor === undefined ? "packages" : "compiled_packages";
  const archives: Record<string, Buffer> = {};
  const entry = (one: string, path: string, archive: Buffer) => {
    archives[path] = archive;
    const digest = createHash("sha256").update(archive).digest("hex");
    return { name: one, version: digest, fingerprint: digest, sha1: `sha256:${digest}` };
  };
  const manifest = {
    name,
    version,
    commit_hash: made.commitHash ?? "non-git",
    uncommitted_changes: false,
    jobs: await Promise.all(
      Object.entries(jobs).map(async ([job, { spec, monit, templates, schema, fingerprint }]) => {
        const inner = Object.entries(templates).map(([path, text]) => [`templates/${path}`, text]);
        const all = {
          "job.MF": JSON.stringify({ name: job, ...spec }),
          monit,
          ...(schema !== undefined && { "properties_schema.json": schema }),
          ...Object.fromEntries(inner),
        };
        return {
          ...entry(job, `jobs/${job}.tgz`, await files(all)),
          ...(fingerprint !== undefined && { fingerprint, version: fingerprint }),
        };
      }),
    ),
    [folder]: await Promise.all(
      Object.entries(packages).map(async ([one, { dependencies = [], files: source, fingerprint }]) => ({
        ...entry(one, `${folder}/${one}.tgz`, await files(source)),
        ...(fingerprint !== undefined && { fingerprint, version: fingerprint }),
        dependencies,
        ...(compiledFor !== undefined && { stemcell: compiledFor }),
      })),
    ),
  };
  for (const [one, { leftOut }] of Object.entries(packages))
    if (leftOut === true) delete archives[`${folder}/${one}.tgz`];
  const inner = Object.entries(archives).map(([path, bytes]) => ({
    header: { name: path, size: bytes.length, type: "file" as const },
    body: bytes,
  }));
  return await tarball([fileEntry("release.MF", JSON.stringify(manifest)), ...inner]);
}
