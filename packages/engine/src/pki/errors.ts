import { defineError } from "@slipway/kernel/errors";

/** DIA-00x what the Director keeps to prove who it and its agents are. */

export const AuthorityUnreadable = defineError<{ path: string; why: string }>({
  code: "DIA-001",
  kind: "outside",
  message: (p) => `the Director's certificate authority in ${p.path} cannot be used: ${p.why}`,
  next: "Restore the file from a backup; it was left as it is. Moved away, a new authority is made at the next start, and every VM must be recreated before its agent can be reached.",
});

export const AuthorityEnded = defineError<{ path: string; ended: string }>({
  code: "DIA-002",
  kind: "operator",
  message: (p) => `the Director's certificate authority in ${p.path} is not valid now; it ends ${p.ended}`,
  next: "See that the clock of this machine is right. If it is, move the file away and start again for a new authority, then recreate the VMs and give `bosh` the new CA certificate.",
});

export const PkiFileFailed = defineError<{ doing: string; path: string }>({
  code: "DIA-003",
  kind: "operator",
  message: (p) => `${p.doing} ${p.path} failed`,
  next: "Make sure the Director's user owns the state directory and may write in it, and that the disk has room.",
});

export const NameUnusable = defineError<{ name: string }>({
  code: "DIA-004",
  kind: "operator",
  message: (p) => `"${p.name}" cannot stand in a certificate: it is neither a host name nor an IP address`,
  next: "Correct listen.host and listen.names of the Director's configuration: names and addresses without scheme, port or blanks.",
});

export const GivenAuthorityUnusable = defineError<{ where: string; why: string }>({
  code: "DIA-005",
  kind: "operator",
  message: (p) => `the certificate authority of ${p.where} cannot be used: ${p.why}`,
  next: "Give the certificate of an authority and its private key, without a passphrase, as PEM or as paths of files.",
});
