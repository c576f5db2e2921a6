import { defineError } from "@slipway/kernel/errors";

export const BadCpi = defineError<{ given: string; known: string }>({
  code: "CLU-030",
  kind: "operator",
  typed: true,
  message: (p) => `--cpi takes ${p.known}, got '${p.given}'`,
  next: "Say `--cpi local` for sandboxes of this machine, `--cpi docker` for containers of a Docker Engine. Another CPI is named in the Director's configuration: `slipway up --config FILE`.",
});

export const OtherCpi = defineError<{ dir: string; has: string; vms: string; asked: string }>({
  code: "CLU-031",
  kind: "operator",
  message: (p) =>
    `the VMs of ${p.dir} are ${p.vms}: it has the CPI ${p.has}, and --cpi ${p.asked} was asked for`,
  next: "Leave out --cpi, or use another directory: put SLIPWAY_HOME=DIR before the command, and --port N behind it.",
});

export const OptionOfOther = defineError<{ option: string; owner: string; name: string }>({
  code: "CLU-032",
  kind: "operator",
  typed: true,
  message: (p) => `--${p.option} is for the CPI ${p.owner}, and this would be the CPI ${p.name}`,
  next: "Say `--cpi {owner}` too, or leave it out.",
});
