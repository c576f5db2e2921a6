import { defineError } from "@slipway/kernel/errors";

/** Errors of releases. The numbers are upstream's. */

export const BadRelease = defineError<{ why: string }>({
  code: "ENR-001",
  kind: "operator",
  number: 30002,
  message: (p) => `the release archive cannot be used: ${p.why}`,
  next: "Make it again with `bosh create-release --tarball`. It is a gzipped tar with release.MF, jobs/ and packages/; `tar -tzf` shows what it holds.",
});

export const ReleaseManifestMissing = defineError<Record<string, never>>({
  code: "ENR-002",
  kind: "operator",
  number: 30003,
  message: () => "the release archive holds no release.MF",
  next: "Give the tarball that `bosh create-release --tarball` writes, not the release's directory or its source.",
});

export const BadJobArchive = defineError<{ job: string; why: string }>({
  code: "ENR-003",
  kind: "operator",
  number: 80000,
  message: (p) => `the archive of job '${p.job}' cannot be used: ${p.why}`,
  next: "Correct the job in the release's source, and make the release again.",
});

export const JobManifestMissing = defineError<{ job: string }>({
  code: "ENR-004",
  kind: "operator",
  number: 80001,
  message: (p) => `Missing job manifest for '${p.job}'`,
  next: "A job has a spec file, which is job.MF in its archive. Make the release again.",
});

export const TemplateMissing = defineError<{ job: string; template: string }>({
  code: "ENR-005",
  kind: "operator",
  number: 80002,
  message: (p) => `Missing template file '${p.template}' for job '${p.job}'`,
  next: "The job's spec names it under templates. Add the file to the job's templates directory, or take its line away.",
});

export const MonitMissing = defineError<{ job: string }>({
  code: "ENR-006",
  kind: "operator",
  number: 80004,
  message: (p) => `Job '${p.job}' is missing monit file`,
  next: "Every job has a file called monit beside its spec; one that runs nothing has an empty one.",
});

export const PartDigestMismatch = defineError<{ part: string; expected: string; actual: string }>({
  code: "ENR-007",
  kind: "operator",
  number: 30015,
  message: (p) => `the archive of ${p.part} has the digest ${p.actual}, but release.MF says ${p.expected}`,
  next: "The release was changed or damaged after it was made. Get it again.",
});

export const PackageCycle = defineError<{ names: readonly string[] }>({
  code: "ENR-008",
  kind: "operator",
  number: 30002,
  message: (p) => `packages of the release need each other to be compiled: ${p.names.join(" -> ")}`,
  next: "Take one of these dependencies out of the release, and make it again.",
});

export const ReleaseVersionInvalid = defineError<{ version: string }>({
  code: "ENR-009",
  kind: "operator",
  number: 30010,
  message: (p) => `Release version invalid: ${p.version}`,
  next: "A version is `release[-pre][+post]` of letters, digits, dots and underscores. Make the release again with such a one.",
});

interface OfVersion {
  readonly name: string;
  readonly version: string;
}

export const OtherCommit = defineError<OfVersion & { commitHash: string; uncommittedChanges: boolean }>({
  code: "ENR-010",
  kind: "operator",
  number: 30014,
  message: (p) =>
    `release '${p.name}/${p.version}' has already been uploaded with commit_hash as '${p.commitHash}' and uncommitted_changes as '${p.uncommittedChanges}'`,
  next: "Make the release again with another version, or upload it with --rebase, which gives it one.",
});

export const OtherFingerprint = defineError<OfVersion & { kind: "job" | "package"; part: string }>({
  code: "ENR-011",
  kind: "operator",
  number: (p) => (p.kind === "job" ? 30013 : 30012),
  message: (p) =>
    `${p.kind} '${p.part}' had different fingerprint in previously uploaded release '${p.name}/${p.version}'`,
  next: "Make the release again with another version, or upload it with --rebase, which gives it one.",
});

export const PackageLeftOut = defineError<{ part: string }>({
  code: "ENR-012",
  kind: "operator",
  number: 60000,
  message: (p) =>
    `the release archive does not hold the package '${p.part}', and it is not known here either`,
  next: "Upload the whole release: with --fix nothing is left out.",
});

export const OtherDependencies = defineError<{ part: string }>({
  code: "ENR-013",
  kind: "operator",
  number: 30016,
  message: (p) =>
    `The uploaded release contains package dependencies in '${p.part}' that do not match database records.`,
  next: "It is not compiled from the release that is here under this name and version. Export it again, or delete that one first.",
});

export const StoredJobDamaged = defineError<{ job: string; why: string }>({
  code: "ENR-014",
  kind: "outside",
  message: (p) => `the archive of job '${p.job}' is damaged in the Director's blobstore: ${p.why}`,
  next: "Upload the release again with `bosh upload-release --fix`, then deploy again. Look after the disk it was on.",
});
