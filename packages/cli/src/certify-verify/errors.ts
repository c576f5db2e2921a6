import { defineError } from "@slipway/kernel/errors";

export const NoSubject = defineError<Record<never, never>>({
  code: "CLI-096",
  kind: "operator",
  message: () => "a receipt is compared with one executable",
  next: "Name it with --cpi or with --agent.",
  typed: true,
});

export const FileUnreadable = defineError<{ path: string; why: string }>({
  code: "CLI-097",
  kind: "operator",
  message: (p) => `${p.path} cannot be read: ${p.why}`,
  next: "Name a file that exists and that you may read.",
});
