import { defineError } from "@slipway/kernel/errors";

export const CannotAsk = defineError<{ question: string }>({
  code: "CLI-030",
  kind: "operator",
  message: (p) => `there is no terminal to ask at: ${p.question}`,
  next: "Run it with -n (BOSH_NON_INTERACTIVE=true) to go on without being asked.",
});

export const CannotAskFor = defineError<{ what: string }>({
  code: "CLI-031",
  kind: "operator",
  message: (p) => `there is no terminal to ask for: ${p.what}`,
  next: "Set BOSH_CLIENT and BOSH_CLIENT_SECRET, or run it at a terminal without -n.",
});

export const Stopped = defineError<Record<never, never>>({
  code: "CLI-032",
  kind: "operator",
  message: () => "stopped: the command was not confirmed; nothing was changed",
  next: "Run it again and answer y, or run it with -n.",
});

export const NoSuchColumn = defineError<{ asked: string; known: readonly string[] }>({
  code: "CLI-033",
  kind: "operator",
  typed: true,
  message: (p) => `there is no column '${p.asked}' in this table; it has ${p.known.join(", ")}`,
  next: "Name one of them with --column, or leave it out to see them all.",
});

/** Thrown on Ctrl-C; not a failure. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}
