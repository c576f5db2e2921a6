import { defineError } from "@slipway/kernel/errors";

export const ChoiceUnreadable = defineError<{ path: string; why: string }>({
  code: "CLU-037",
  kind: "operator",
  message: (p) => `the record ${p.path} of this directory's CPI cannot be used: ${p.why}`,
  next: "Restore it from a backup. If a newer slipway wrote it, use that. Nothing was changed.",
});

export const HomeUnusable = defineError<{ dir: string; why: string }>({
  code: "CLU-008",
  kind: "operator",
  message: (p) => `the state directory ${p.dir} cannot be used: ${p.why}`,
  next: "Make it yours and writable, or set SLIPWAY_HOME to a directory that is.",
});
