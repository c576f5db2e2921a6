import { defineError } from "@slipway/kernel/errors";

export const BadBlobId = defineError<Record<never, never>>({
  code: "AGS-030",
  kind: "operator",
  message: () => "a blob id is one path segment: at most 255 bytes, no slash, no leading dot",
  next: "Send an id as the blobstore gave it.",
});

export const BadDigest = defineError<{ why: string }>({
  code: "AGS-031",
  kind: "operator",
  message: (p) => `not a digest: ${p.why}`,
  next: "Write it as sha1 hex, or as sha256:hex or sha512:hex; several are parted by semicolons.",
});

export const BlobMissing = defineError<{ id: string; where: string }>({
  code: "AGS-032",
  kind: "outside",
  message: (p) => `the blob ${p.id} is not there (looked in ${p.where})`,
  next: "Upload it again; a deploy does so.",
});

export const BlobDamaged = defineError<{ id: string; expected: string; actual: string }>({
  code: "AGS-033",
  kind: "outside",
  message: (p) =>
    `the blob ${p.id} is not what was announced: expected digest ${p.expected}, got ${p.actual}`,
  next: "Upload it again; if it stays wrong, check the blobstore.",
});

export const BlobstoreFailed = defineError<{ provider: string; doing: string; why: string }>({
  code: "AGS-034",
  kind: "outside",
  message: (p) => `the blobstore ${p.provider} failed to ${p.doing}: ${p.why}`,
  next: "Check the blobstore's settings and that its program is in the VM.",
});

export const DownloadFailed = defineError<{ what: string; why: string }>({
  code: "AGA-009",
  kind: "outside",
  message: (p) => `${p.what} could not be fetched: ${p.why}`,
  next: "Check that this VM reaches the blobstore; signed URLs expire.",
});

export const UploadFailed = defineError<{ what: string; why: string }>({
  code: "AGS-035",
  kind: "outside",
  message: (p) => `${p.what} failed: ${p.why}`,
  next: "Check that this VM reaches the blobstore; signed URLs expire.",
});
