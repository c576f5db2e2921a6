import { defineError } from "@slipway/kernel/errors";

export const NoSuchFile = defineError<{ path: string }>({
  code: "CLI-045",
  kind: "operator",
  typed: true,
  message: (p) => `the file ${p.path} cannot be read`,
  next: "Give the path of a stemcell's .tgz, or a URL that the Director can fetch.",
});
