import { defineError } from "@slipway/kernel/errors";

export const NoReleaseDirectory = defineError<{ dir: string; why: string }>({
  code: "CLI-100",
  kind: "operator",
  message: (p) => `${p.dir} is not the top of a release directory: ${p.why}`,
  next: "Go to the directory that holds config/final.yml, or name it with --dir. `slipway init-release --dir DIR` makes one.",
});

export const BadReleaseSource = defineError<{ dir: string; problems: readonly string[] }>({
  code: "CLI-101",
  kind: "operator",
  message: (p) => `the release in ${p.dir} cannot be built:\n  ${p.problems.join("\n  ")}`,
  next: "Correct what is named; nothing was built.",
});

export const GitModified = defineError<{ changes: string }>({
  code: "CLI-102",
  kind: "operator",
  message: (p) => `Git repository has local modifications:\n\n${p.changes}`,
  next: "Commit or undo them. --force builds the release with them, and marks it so.",
});

export const ReleaseVersionThere = defineError<{ name: string; version: string }>({
  code: "CLI-103",
  kind: "operator",
  message: (p) => `Release '${p.name}' version '${p.version}' already exists`,
  next: "Give another --version, or leave it out: the next one is found then.",
});

export const BadReleaseVersion = defineError<{ version: string; why: string }>({
  code: "CLI-104",
  kind: "operator",
  typed: true,
  message: (p) => `no version follows from '${p.version}': ${p.why}`,
  next: "A version is like 1.0.0 or 1.0-beta.2+dev.10; give one with --version.",
});

export const ArchiveLost = defineError<{ what: string; fingerprint: string; why: string }>({
  code: "CLI-105",
  kind: "operator",
  message: (p) => `Expected to find '${p.what}/${p.fingerprint}': ${p.why}`,
  next: "Its archive was made on another machine, or ~/.bosh/cache was emptied. Get it from there, or vendor the package again.",
});

export const BadReleaseFile = defineError<{ file: string; problems: readonly string[] }>({
  code: "CLI-106",
  kind: "operator",
  message: (p) => `${p.file} cannot be used: ${p.problems.join("; ")}`,
  next: "Correct the file, or get it back with git.",
});

export const BlobstoreUnusable = defineError<{ why: string }>({
  code: "CLI-107",
  kind: "operator",
  message: (p) => `the release's blobstore cannot be used: ${p.why}`,
  next: "config/final.yml has its provider and options under blobstore, config/private.yml its credentials: see docs/make-a-release.md.",
});

export const SourceChanged = defineError<{ what: string }>({
  code: "CLI-108",
  kind: "operator",
  message: (p) => `the files of ${p.what} changed while its archive was made`,
  next: "Run it again when nothing writes to them.",
});

export const ReleaseNotWritten = defineError<{ file: string; why: string }>({
  code: "CLI-109",
  kind: "operator",
  message: (p) => `${p.file} cannot be written: ${p.why}`,
  next: "Name a directory that exists and that you may write to.",
});

export const PrePackagingFailed = defineError<{ name: string; code: number; stderr: string }>({
  code: "CLI-110",
  kind: "operator",
  message: (p) => `the pre_packaging of package '${p.name}' ended with ${p.code}: ${p.stderr}`,
  next: "It runs on this machine with the package's files around it; BUILD_DIR and RELEASE_DIR say where.",
});

export const BlobDamaged = defineError<{ path: string; why: string }>({
  code: "CLI-111",
  kind: "operator",
  message: (p) => `blob '${p.path}' cannot be used: ${p.why}`,
  next: "See that the blobstore in config/final.yml has it; `slipway add-blob` puts it into the release again.",
});

/** One of several problems, which are reported together, each after the name of its directory. */
export const Unbuildable = defineError<{ why: string }>({
  code: "CLI-112",
  kind: "operator",
  message: (p) => p.why,
  next: "Correct it in the release's source.",
});

export const ReleaseThere = defineError<{ dir: string }>({
  code: "CLI-113",
  kind: "operator",
  message: (p) => `${p.dir} is a release directory already`,
  next: "Nothing was changed. Name another directory with --dir.",
});

export const PartThere = defineError<{ kind: "Job" | "Package"; name: string; path: string }>({
  code: "CLI-114",
  kind: "operator",
  message: (p) => `${p.kind} '${p.name}' at '${p.path}' already exists`,
  next: "Nothing was changed. Remove it first, or give another name.",
});

export const BadPartName = defineError<{ name: string }>({
  code: "CLI-115",
  kind: "operator",
  typed: true,
  message: (p) => `'${p.name}' cannot be the name of a job or a package`,
  next: "Names hold letters, digits and - _ + . only.",
});

export const BadBlobPath = defineError<{ path: string }>({
  code: "CLI-116",
  kind: "operator",
  typed: true,
  message: (p) => `Invalid blob path '${p.path}': must be a safe local path`,
  next: "It is a path below blobs/, such as golang/go1.23.tar.gz.",
});

export const NoSuchPackage = defineError<{ name: string; dir: string }>({
  code: "CLI-117",
  kind: "operator",
  message: (p) => `Expected to find package '${p.name}' in the release in ${p.dir}`,
  next: "`slipway create-release` there, or see with `slipway inspect-local-release` what its releases have.",
});

export const NoReleaseMade = defineError<{ dir: string }>({
  code: "CLI-118",
  kind: "operator",
  message: (p) => `Expected to find at least one dev or final version of the release in ${p.dir}`,
  next: "Make one there with `slipway create-release`.",
});

export const CompiledRelease = defineError<Record<string, never>>({
  code: "CLI-119",
  kind: "operator",
  message: () => "a final release is made of sources, and this one holds compiled packages",
  next: "Finalize the tarball that `slipway create-release` wrote.",
});

export const BlobNotFetched = defineError<{ id: string; where: string; why: string }>({
  code: "CLI-122",
  kind: "outside",
  message: (p) => `blob '${p.id}' cannot be fetched from ${p.where}: ${p.why}`,
  next: "See that this machine reaches the blobstore in config/final.yml, and that it may be read: publicly, or with the credentials in config/private.yml.",
});

export const BlobNotStored = defineError<{ where: string; why: string }>({
  code: "CLI-123",
  kind: "outside",
  message: (p) => `nothing can be stored in ${p.where}: ${p.why}`,
  next: "See that this machine reaches the blobstore in config/final.yml, and that the credentials in config/private.yml may write to it.",
});
