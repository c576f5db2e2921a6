import { yamlFile } from "./read-yaml.ts";

/** A job, package or license whose archive is at hand. */
export interface BuiltResource {
  readonly name: string;
  readonly fingerprint: string;
  readonly digest: string;
  /** Its archive. */
  readonly file: string;
  readonly needs: readonly string[];
  /** `<os>/<version>`; set for compiled packages only. */
  readonly stemcell?: string | undefined;
}

export interface BuiltRelease {
  readonly name: string;
  readonly version: string;
  readonly commit: string;
  readonly uncommittedChanges: boolean;
  readonly noCompression: boolean;
  readonly jobs: readonly BuiltResource[];
  readonly packages: readonly BuiltResource[];
  readonly license: BuiltResource | undefined;
}

export const isCompiled = ({ packages }: BuiltRelease): boolean =>
  packages.some(({ stemcell }) => stemcell !== undefined);

/** release.MF, and the file of this version in dev_releases or releases. */
export function manifestText(release: BuiltRelease): string {
  const { jobs, packages, license } = release;
  const entries = packages.map((one) => ({
    ...entryOf(one),
    ...(one.stemcell !== undefined && { stemcell: one.stemcell }),
    dependencies: one.needs,
  }));
  return yamlFile({
    name: release.name,
    version: release.version,
    commit_hash: release.commit,
    uncommitted_changes: release.uncommittedChanges,
    ...(jobs.length > 0 && { jobs: jobs.map((one) => ({ ...entryOf(one), packages: one.needs })) }),
    ...(entries.length > 0 && { [isCompiled(release) ? "compiled_packages" : "packages"]: entries }),
    ...(license !== undefined && { license: identity(license) }),
    ...(release.noCompression && { no_compression: true }),
  });
}

const identity = ({ fingerprint, digest }: BuiltResource) => ({
  version: fingerprint,
  fingerprint,
  sha1: digest,
});

const entryOf = (resource: BuiltResource) => ({ name: resource.name, ...identity(resource) });
