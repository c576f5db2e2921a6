import { defineError } from "@slipway/kernel/errors";

export const BadUsage = defineError<{ called: string; problem: string }>({
  code: "CLI-001",
  kind: "operator",
  message: (p) => `${p.called}: ${p.problem}`,
  next: "Call it with --help to see what it takes.",
});

export const NoSuchCommand = defineError<{ name: string; near: readonly string[] }>({
  code: "CLI-002",
  kind: "operator",
  message: (p) =>
    `there is no command '${p.name}'${p.near.length === 0 ? "" : `; did you mean ${p.near.map((one) => `'${one}'`).join(" or ")}?`}`,
  next: "slipway --help lists all of them.",
});

export const NotYet = defineError<{ name: string }>({
  code: "CLI-003",
  kind: "operator",
  message: (p) => `'${p.name}' is not yet in slipway`,
  next: "The bosh CLI has it, where the Director knows it: `bosh {name}`. slipway --help lists what there is here.",
});

export const BadArgument = defineError<{ what: string; given: string }>({
  code: "CLI-041",
  kind: "operator",
  message: (p) => `'${p.given}' is not ${p.what}`,
  next: "Call the command with --help to see what it takes.",
});

export const Contradiction = defineError<{ problem: string }>({
  code: "CLI-042",
  kind: "operator",
  message: (p) => p.problem,
  next: "Call the command with --help to see what goes together.",
});
