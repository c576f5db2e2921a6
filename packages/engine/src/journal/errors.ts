import { defineError } from "@slipway/kernel/errors";

export const BadWrite = defineError<{ what: string }>({
  code: "DIS-030",
  kind: "bug",
  message: (p) => `a change contradicts the recorded state and was not written: ${p.what}`,
  next: "Report it with the task's debug output.",
});

export const InstanceHolds = defineError<{ instance: string; what: string }>({
  code: "DIS-031",
  kind: "bug",
  message: (p) => `the instance ${p.instance} cannot be removed while it has ${p.what}`,
  next: "Report it with the task's debug output.",
});
