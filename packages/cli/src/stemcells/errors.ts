import { defineError } from "@slipway/kernel/errors";

export const StemcellUnreadable = defineError<{ file: string; why: string }>({
  code: "CLS-001",
  kind: "operator",
  message: (p) => `the stemcell ${p.file} cannot be used: ${p.why}`,
  next: "Download or build it again. It is a gzipped tar with stemcell.MF and image at its top; `tar -tzf` shows what it holds.",
});

export const NoSuchStemcell = defineError<{ file: string }>({
  code: "CLS-013",
  kind: "operator",
  typed: true,
  message: (p) => `there is no such file: ${p.file}`,
  next: "Give the path of a stemcell's .tgz.",
});

export const ImageDiffers = defineError<{
  file: string;
  algorithm: string;
  expected: string;
  actual: string;
}>({
  code: "CLS-002",
  kind: "operator",
  message: (p) =>
    `the image in the stemcell ${p.file} is not the one its stemcell.MF speaks of: its ${p.algorithm} digest is ${p.actual}, not ${p.expected}`,
  next: "Do not use it: it was damaged or changed. Download or build it again.",
});

export const StemcellNotWritten = defineError<{ file: string; why: string }>({
  code: "CLS-003",
  kind: "outside",
  message: (p) => `the stemcell ${p.file} cannot be written: ${p.why}; what was there is as it was`,
  next: "See that its directory exists, may be written to and has free space.",
});

export const NotBuiltYet = defineError<{ cloud: string }>({
  code: "CLS-004",
  kind: "operator",
  typed: true,
  message: (p) => `slipway builds stemcells for its local cloud and for docker, none for ${p.cloud}`,
  next: "Say `--for docker`, leave out --for, or upload one of the public stemcells for that cloud with `slipway upload-stemcell`.",
});

export const BadStemcellOption = defineError<{ option: string; why: string }>({
  code: "CLS-005",
  kind: "operator",
  typed: true,
  message: (p) => `--${p.option} cannot be used for a stemcell: ${p.why}`,
  next: "Correct the option; `slipway help` with the command's name shows what it takes.",
});

export const NoRoot = defineError<{ path: string; why: string }>({
  code: "CLS-006",
  kind: "operator",
  typed: true,
  message: (p) => `${p.path} cannot be the root file system of a stemcell: ${p.why}`,
  next: "Name a directory with a root file system, or a tar of one (gzipped or not).",
});

export const NoBootstrap = defineError<{ program: string }>({
  code: "CLS-007",
  kind: "operator",
  message: (p) => `a root file system cannot be made here: the program ${p.program} is not there`,
  next: "On Debian or Ubuntu: `apt-get install mmdebstrap debian-archive-keyring`. Elsewhere run slipway in a container of Debian, or take an image that has the agent in it with `--from-image`.",
});

export const RootNotBuilt = defineError<{ suite: string; code: number; said: string }>({
  code: "CLS-008",
  kind: "outside",
  message: (p) =>
    `the root file system of Debian ${p.suite} could not be made: mmdebstrap ended with ${p.code} and said:\n${p.said}`,
  next: "The last lines of mmdebstrap name what is missing. mmdebstrap needs Debian's keys (package debian-archive-keyring), a reachable mirror (`--mirror` names another), free space beside the file, and to be run as root or by a user with subordinate ids (package uidmap).",
});

export const NoDigest = defineError<{ reference: string; why: string }>({
  code: "CLS-009",
  kind: "operator",
  typed: true,
  message: (p) => `--from-image ${p.reference} cannot be used for a stemcell: ${p.why}`,
  next: "It is NAME[:TAG]@sha256:DIGEST. `docker image inspect --format '{{json .RepoDigests}}' NAME` shows it for an image that was pulled, `docker buildx imagetools inspect NAME` for one in a registry; for one that was built here it is what `docker image inspect --format '{{.Id}}' NAME` shows.",
});

export const NoAgentInImage = defineError<{ reference: string; places: readonly string[] }>({
  code: "CLS-010",
  kind: "operator",
  message: (p) => `the image ${p.reference} has no agent: neither ${p.places.join(" nor ")} is in it`,
  next: "Take an image that `slipway stemcell build --for docker` made or one of a BOSH stemcell. If its agent is elsewhere, say what it can with --api-version.",
});

export const ImageUnseen = defineError<{ reference: string; why: string }>({
  code: "CLS-011",
  kind: "outside",
  message: (p) => `it could not be looked whether ${p.reference} has an agent: ${p.why}`,
  next: "Let the engine of --docker-host or DOCKER_HOST have the image (docker pull), or say which agent is in it with --api-version.",
});

export const AgentOlder = defineError<{ reference: string; asked: number; has: number; path: string }>({
  code: "CLS-012",
  kind: "operator",
  message: (p) =>
    `the agent ${p.path} of the image ${p.reference} is of API version ${p.has}, and --api-version promises ${p.asked}`,
  next: "Leave out --api-version: the stemcell then says what its agent is. Or take an image with a newer agent.",
});
