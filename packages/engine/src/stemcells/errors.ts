import { defineError } from "@slipway/kernel/errors";
import { RESERVE } from "./free-space.ts";

/** Errors of stemcells that are uploaded or downloaded. */

export const BadArchive = defineError<{ why: string }>({
  code: "DIU-001",
  kind: "operator",
  number: 50000,
  message: (p) => `the stemcell archive cannot be used: ${p.why}`,
  next: "Upload it again. It is a gzipped tar with stemcell.MF and image at its top; `tar -tzf` shows what it holds.",
});

export const ImageMissing = defineError<{ name: string; version: string }>({
  code: "DIU-002",
  kind: "operator",
  number: 50001,
  message: (p) => `the archive of stemcell ${p.name}/${p.version} holds no file called image`,
  next: "Upload a complete stemcell. A light one has an empty image file.",
});

export const DigestMismatch = defineError<{
  what: string;
  /** With the algorithm before them, but for SHA-1, as upstream writes digests. */
  expected: string;
  actual: string;
}>({
  code: "DIU-003",
  kind: "operator",
  number: (p) => (p.what === "release" ? 30015 : 50007),
  message: (p) =>
    `Expected stream to have digest '${p.expected}' but was '${p.actual}': the ${p.what} is not the one that was asked for; nothing was kept`,
  next: "Check the address and the digest given with --sha1. If both are right the file was changed on its way.",
});

export const BadDigest = defineError<{ what: string; why: string }>({
  code: "DIU-004",
  kind: "operator",
  number: 40005,
  message: (p) => `${p.why} (in the digest given for the ${p.what})`,
  next: "Give 40 hex digits of SHA-1, `sha256:` or `sha512:` with theirs, or several joined with `;`.",
});

const mib = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MiB`;

export const NotEnoughDisk = defineError<{ what: string; free: number }>({
  code: "DIU-005",
  kind: "outside",
  number: 500001,
  // Insufficient Storage: nothing is broken, and upstream's CLI shows the words of any status that is no success.
  status: 507,
  message: (p) =>
    `${p.what} needs more than the ${mib(p.free)} that may be used in the Director's state directory: the last ${mib(RESERVE)} that are free there are kept for the database; what was written is removed`,
  next: "Free disk space and upload again. An archive that unpacks to far more than a stemcell has is not one.",
});

export const DownloadFailed = defineError<{ what: string; url: string; why: string }>({
  code: "DIU-006",
  kind: "operator",
  number: 100,
  message: (p) => `the ${p.what} at ${p.url} cannot be downloaded: ${p.why}`,
  next: "Check that the Director's machine reaches the address, or download the file and upload it from there.",
});

export const FormatUnsupported = defineError<{ formats: readonly string[]; supported: readonly string[] }>({
  code: "DIU-007",
  kind: "operator",
  number: 50008,
  message: (p) =>
    `uploaded stemcell with formats ${listed(p.formats)} are not supported by available cpi formats: ${listed(p.supported)}`,
  next: "Upload a stemcell made for this cloud.",
});

const listed = (formats: readonly string[]): string =>
  `[${formats.map((format) => JSON.stringify(format)).join(", ")}]`;

export const BadAddress = defineError<{ what: string }>({
  code: "DIU-008",
  kind: "operator",
  number: 40005,
  message: (p) => `the address given for the ${p.what} cannot be read: it is not of http, https or file`,
  next: "Give a whole URL, or upload the file itself.",
});
