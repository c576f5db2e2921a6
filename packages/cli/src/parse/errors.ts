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
