import { defineError } from "@slipway/kernel/errors";

export const TooCostly = defineError<{ why: string }>({
  code: "DIY-001",
  kind: "operator",
  number: 440001,
  message: (p) => `the document is too costly to read: ${p.why}`,
  next: "Take out what is not needed, or split it: several configs may be given under several names. Nothing was changed.",
});

export const TooManyDocuments = defineError<{ most: number }>({
  code: "DIY-002",
  kind: "operator",
  number: 440001,
  status: 429,
  message: (p) => `more than ${p.most} documents wait to be read`,
  next: "Ask again in a while. Nothing was changed.",
});

export const WorkerFailed = defineError<Record<never, never>>({
  code: "DIY-003",
  kind: "bug",
  message: () => "the thread that reads documents failed",
  next: "Report this with the cause.",
});
