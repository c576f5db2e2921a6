import { defineError } from "@slipway/kernel/errors";

export const StateNotWritten = defineError<{ path: string }>({
  code: "AGS-010",
  kind: "outside",
  message: (p) => `${p.path} could not be written; what it held before is unchanged`,
  next: "Free space on the disk or repair it, then send the message again.",
});
