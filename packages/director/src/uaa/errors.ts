import { defineError } from "@slipway/kernel/errors";

/** DIW-: tokens of a UAA. Never a token, never what a server has said. */

export const KeysUnavailable = defineError<{ url: string; why: string }>({
  code: "DIW-001",
  kind: "outside",
  status: 503,
  message: (p) => `the keys that tokens are signed with cannot be fetched from ${p.url}: ${p.why}`,
  next: "See that it runs, and that `uaa` of the Director's configuration names its address and CA.",
});

export const BadUaaKey = defineError<{ what: string }>({
  code: "DIW-002",
  kind: "operator",
  message: (p) => `${p.what} of the Director's configuration is no public key that tokens can be signed with`,
  next: "Give an RSA key of at least 2048 bits, or an EC key of P-256, P-384 or P-521, as PEM text or the path of a file.",
});

export const TokenRefused = defineError<{ why: string }>({
  code: "DIW-003",
  kind: "outside",
  message: (p) => `a token that is properly signed was refused: ${p.why}`,
  next: "If it should let somebody in, correct `uaa.issuer` or `uaa.audience` of the Director's configuration.",
});
