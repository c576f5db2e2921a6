import { defineError } from "@slipway/kernel/errors";

export const CertifyOptionInvalid = defineError<{ option: string; why: string }>({
  code: "CLI-130",
  kind: "operator",
  message: (p) => `--${p.option} ${p.why}`,
  next: "`slipway certify --help` shows what it takes.",
  typed: true,
});

export const CertifyFileMissing = defineError<{ option: string; path: string }>({
  code: "CLI-131",
  kind: "operator",
  message: (p) => `--${p.option} names ${p.path}, which cannot be read`,
  next: "Correct the path. `slipway certify init` writes a cloud file to begin with.",
  typed: true,
});

export const CloudFileThere = defineError<{ path: string }>({
  code: "CLI-132",
  kind: "operator",
  message: (p) => `${p.path} is already there`,
  next: "Name another file: `slipway certify init other.yml`. Nothing was changed.",
  typed: true,
});
