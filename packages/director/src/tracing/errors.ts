import { defineError } from "@slipway/kernel/errors";

export const HeaderUnusable = defineError<{ name: string; why: string }>({
  code: "DIR-021",
  kind: "operator",
  message: (p) => `tracing.otlp.headers: ${p.name} cannot be sent: ${p.why}`,
  next: "Give the header's value, or the absolute path of a file that has nothing else.",
});
