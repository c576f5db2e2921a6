import { defineError } from "@slipway/kernel/errors";

export const NoSystemd = defineError<{ why: string }>({
  code: "CLU-050",
  kind: "operator",
  message: (p) => `systemd does not manage services here: ${p.why}`,
  next: "`slipway service install --print` prints the unit for a machine that has systemd. Without it, `slipway up --detach` runs the Director in the background.",
});

export const UnitOfOthers = defineError<{ path: string }>({
  code: "CLU-051",
  kind: "operator",
  message: (p) => `${p.path} was not made by slipway service install, and is left as it is`,
  next: "Give the service another name with --name, or move that file away.",
});

export const NotInstalled = defineError<{ path: string }>({
  code: "CLU-052",
  kind: "operator",
  message: (p) => `there is no service to remove: ${p.path} does not exist`,
  next: "`slipway service status` shows the service. For one of another kind give --user, --system or --name.",
});

export const BadServiceName = defineError<{ name: string }>({
  code: "CLU-053",
  kind: "operator",
  typed: true,
  message: (p) => `'${p.name}' is not a name of a service`,
  next: "Use letters, digits, '-' and '_' only.",
});

export const SystemctlFailed = defineError<{ args: string; code: number; said: string }>({
  code: "CLU-054",
  kind: "outside",
  message: (p) => `systemctl ${p.args} ended with ${p.code}: ${p.said}`,
  next: "`journalctl -u NAME` (of a user service `journalctl --user -u NAME`) has the output of the Director.",
});
