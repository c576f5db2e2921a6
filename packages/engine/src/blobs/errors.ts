import { defineError } from "@slipway/kernel/errors";

/** DIB-00x blobs. */

export const BadBlobId = defineError<Record<never, never>>({
  code: "DIB-001",
  kind: "bug",
  message: () => "a blob's id is one path segment of at most 200 letters, digits, dots and dashes",
  next: "Report it, with the debug log of the task.",
});

export const BlobExists = defineError<{ id: string }>({
  code: "DIB-002",
  kind: "bug",
  message: (p) => `there is a blob ${p.id} already, and an id is used once`,
  next: "Report it, with the debug log of the task.",
});

export const NoSpaceForBlobs = defineError<{ dir: string }>({
  code: "DIB-003",
  kind: "outside",
  message: (p) => `there is no space left for blobs in ${p.dir}; nothing of what was to be stored is kept`,
  next: "Free space there and do it again.",
});
