import * as v from "valibot";
import { check } from "../schema/check.ts";
import { identifier, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** YAML makes numbers of versions such as `12`, and old release authors did not quote them. */
const scalar = (what: string) =>
  v.union([identifier(what), v.number()], `${what} is a number, or letters, digits and - _ + .`);

/** Upstream's CLI leaves it empty when it packs a release again. */
const commitHash = v.union(
  [v.pipe(v.string(), v.regex(/^[ -~]{0,200}$/)), v.number()],
  "commit_hash is at most 200 plain characters",
);

const entry = {
  name: identifier("name"),
  version: scalar("version"),
  fingerprint: v.optional(v.nullable(scalar("fingerprint"))),
  sha1: doc(v.string(), "digest of its archive: sha1 hex, `sha256:...`, or several joined with `;`"),
};

const packageEntry = open({
  ...entry,
  dependencies: v.optional(v.nullable(v.array(identifier("a dependency")))),
});

/** `release.MF`, after YAML. */
export const releaseManifest = open({
  name: doc(identifier("name"), "the release's name"),
  version: doc(scalar("version"), "quote it in YAML: `1.10` is a number there"),
  commit_hash: v.optional(
    v.nullable(doc(commitHash, "of its source; `non-git`, `empty` or nothing without one")),
  ),
  uncommitted_changes: v.optional(v.nullable(v.boolean())),
  jobs: v.optional(
    v.nullable(v.array(open({ ...entry, packages: v.optional(v.nullable(v.array(v.string()))) }))),
  ),
  packages: v.optional(v.nullable(v.array(packageEntry))),
  compiled_packages: v.optional(
    v.nullable(
      v.array(
        open({
          ...packageEntry.entries,
          stemcell: doc(
            v.pipe(
              v.string(),
              v.regex(/^[-0-9A-Za-z_+.]{1,200}\/[-0-9A-Za-z_+.]{1,200}$/, "stemcell is <os>/<version>"),
            ),
            "what it was compiled on",
          ),
        }),
      ),
    ),
  ),
  no_compression: v.optional(v.nullable(v.boolean())),
});

export interface ReleaseJob {
  readonly name: string;
  readonly version: string;
  readonly fingerprint: string;
  readonly digest: string;
}

export interface ReleasePackage extends ReleaseJob {
  readonly dependencies: readonly string[];
  /** Set for a compiled one. */
  readonly stemcell: { readonly os: string; readonly version: string } | undefined;
}

export interface Release {
  readonly name: string;
  readonly version: string;
  readonly commitHash: string;
  readonly uncommittedChanges: boolean;
  readonly compiled: boolean;
  readonly jobs: readonly ReleaseJob[];
  readonly packages: readonly ReleasePackage[];
}

export type ParsedRelease =
  | { readonly ok: true; readonly release: Release }
  | { readonly ok: false; readonly problems: readonly string[] };

export function readReleaseManifest(value: unknown): ParsedRelease {
  const checked = check(releaseManifest, value, "release.MF");
  if (!checked.ok) return checked;
  const mf = checked.value;
  const compiled = mf.compiled_packages !== undefined && mf.compiled_packages !== null;
  const release: Release = {
    name: mf.name,
    version: normalVersion(String(mf.version)),
    commitHash: String(mf.commit_hash ?? "unknown"),
    uncommittedChanges: mf.uncommitted_changes ?? false,
    compiled,
    jobs: (mf.jobs ?? []).map(named),
    packages: [
      ...(mf.packages ?? []).map((one) => ({
        ...named(one),
        dependencies: one.dependencies ?? [],
        stemcell: undefined,
      })),
      ...(mf.compiled_packages ?? []).map((one) => ({
        ...named(one),
        dependencies: one.dependencies ?? [],
        stemcell: stemcellOf(one.stemcell),
      })),
    ],
  };
  const problems = [
    ...(compiled && (mf.packages ?? []).length > 0
      ? ["release.MF has both packages and compiled_packages"]
      : []),
    ...twice("job", release.jobs),
    ...twice("package", release.packages),
    ...unknownDependencies(release.packages),
  ];
  return problems.length === 0 ? { ok: true, release } : { ok: false, problems };
}

/** `1.2.3-dev` of old release tools is `1+dev.3`-like today: `<release>.<n>-dev` means `<release>+dev.<n>`. */
export function normalVersion(version: string): string {
  const old = /^(.+)\.([0-9]+)-dev$/.exec(version);
  return old === null ? version : `${old[1]}+dev.${old[2]}`;
}

interface ListedPart {
  readonly name: string;
  readonly version: string | number;
  readonly fingerprint?: string | number | null | undefined;
  readonly sha1: string;
}

const named = ({ name, version, fingerprint, sha1 }: ListedPart): ReleaseJob => ({
  name,
  version: String(version),
  fingerprint: String(fingerprint ?? version),
  digest: sha1,
});

function stemcellOf(slug: string): { os: string; version: string } {
  const at = slug.indexOf("/");
  return { os: slug.slice(0, at), version: slug.slice(at + 1) };
}

function twice(what: string, entries: readonly { readonly name: string }[]): string[] {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const { name } of entries) (seen.has(name) ? again : seen).add(name);
  return [...again].map((name) => `release.MF names ${what} '${name}' twice`);
}

function unknownDependencies(packages: readonly ReleasePackage[]): string[] {
  const known = new Set(packages.map(({ name }) => name));
  return packages.flatMap(({ name, dependencies }) =>
    dependencies
      .filter((one) => !known.has(one))
      .map((one) => `package '${name}' depends on package '${one}', which release.MF does not have`),
  );
}
