import { defineError } from "@slipway/kernel/errors";

export const PackagesWithoutSource = defineError<{
  release: string;
  stemcell: string;
  packages: readonly string[];
}>({
  code: "DIO-050",
  kind: "operator",
  number: 60001,
  message: (p) =>
    `Can't use release '${p.release}'. It references packages without source code and are not compiled against stemcell '${p.stemcell}':\n${p.packages.map((one) => ` - ${one}`).join("\n")}`,
  next: "Upload the release with its sources, or one that was compiled for this stemcell.",
});

export const PackagesNotExported = defineError<{
  release: string;
  stemcells: readonly string[];
  packages: readonly string[];
}>({
  code: "DIO-057",
  kind: "operator",
  number: 60003,
  message: (p) =>
    `Can't use release '${p.release}':\n${p.stemcells
      .map(
        (stemcell) =>
          `Packages must be exported from stemcell '${stemcell}', but some packages are not compiled for this stemcell:`,
      )
      .join("\n")}\n${p.packages.map((one) => ` - '${one}'`).join("\n")}`,
  next: "Upload the release as it was exported for this stemcell, or take `exported_from` out of the manifest: then its sources are compiled.",
});

export const BlobGone = defineError<{ name: string; blob: string }>({
  code: "DIO-051",
  kind: "outside",
  message: (p) => `the blob ${p.blob} of '${p.name}' is not in the Director's blobstore any more`,
  next: "Upload the release again with `bosh upload-release --fix`, then deploy again.",
});

interface OtherContent {
  readonly name: string;
  readonly actual: string;
  readonly expected: string;
}

export const BlobDamaged = defineError<OtherContent & { blob: string }>({
  code: "DIO-052",
  kind: "outside",
  message: (p) =>
    `the blob ${p.blob} of '${p.name}' is damaged in the Director's blobstore: its digest is ${p.actual}, not ${p.expected}`,
  next: "Upload the release again with `bosh upload-release --fix`, then deploy again. Look after the disk it was on.",
});

export const BlobChanged = defineError<OtherContent>({
  code: "DIO-053",
  kind: "outside",
  message: (p) =>
    `the compiled package '${p.name}' is not what its agent has sent: its digest is ${p.actual}, not ${p.expected}; nothing of it was kept`,
  next: "Deploy again. If it happens again, something between the Director and the VM changes what passes.",
});

export const PackageNotCompiled = defineError<{
  package: string;
  release: string;
  stemcell: string;
  why: string;
}>({
  code: "DIO-054",
  kind: "outside",
  number: 450001,
  message: (p) =>
    `package '${p.package}' of release '${p.release}' could not be compiled for stemcell '${p.stemcell}': ${p.why}`,
  next: "Correct what is said there and deploy again; what was compiled before is not compiled once more.",
});
