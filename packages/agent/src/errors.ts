import { defineError } from "@slipway/kernel/errors";

export const BadRequest = defineError<{ why: string }>({
  code: "AGA-006",
  kind: "outside",
  message: (p) => p.why,
  next: "Correct the request.",
});
