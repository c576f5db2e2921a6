import { defineError } from "@slipway/kernel/errors";

const meant = (near: readonly string[]): string =>
  near.length === 0 ? "" : `; did you mean ${near.map((one) => `'${one}'`).join(" or ")}?`;

export const BadUsage = defineError<{ called: string; problem: string; near: readonly string[] }>({
  code: "CLI-001",
  kind: "operator",
  typed: true,
  message: (p) => `${p.called}: ${p.problem}${meant(p.near)}`,
  next: "`{called} --help` shows what it takes.",
});

export const NoSuchCommand = defineError<{ name: string; near: readonly string[] }>({
  code: "CLI-002",
  kind: "operator",
  typed: true,
  message: (p) => `there is no command '${p.name}'${meant(p.near)}`,
  next: "`slipway --help` lists all of them.",
});

export const BadArgument = defineError<{ what: string; given: string }>({
  code: "CLI-041",
  kind: "operator",
  typed: true,
  message: (p) => `'${p.given}' is not ${p.what}`,
  next: "",
});

export const Contradiction = defineError<{ problem: string }>({
  code: "CLI-042",
  kind: "operator",
  typed: true,
  message: (p) => p.problem,
  next: "",
});
