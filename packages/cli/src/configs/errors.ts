import { defineError } from "@slipway/kernel/errors";

export const NoConfig = defineError<{ what: string; command: string }>({
  code: "CLI-049",
  kind: "operator",
  message: (p) => `there is no ${p.what}`,
  next: "`slipway {command} FILE` saves one. `slipway configs` lists what there is.",
});
