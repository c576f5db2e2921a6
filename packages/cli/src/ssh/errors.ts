import { defineError } from "@slipway/kernel/errors";

export const NoSsh = defineError<{ program: string }>({
  code: "CLI-070",
  kind: "operator",
  message: (p) => `the program '${p.program}' cannot be started`,
  next: "Install the OpenSSH client: the package openssh-client, or openssh-clients.",
});

export const ManyInstances = defineError<{ count: number }>({
  code: "CLI-071",
  kind: "operator",
  typed: true,
  message: (p) => `${p.count} instances are meant, and a shell is in one`,
  next: "Name one as group/id or group/index, or run a command in all of them with -c.",
});

export const CommandEnded = defineError<{ failures: readonly string[] }>({
  code: "CLI-072",
  kind: "outside",
  message: (p) => p.failures.join("; "),
  next: "What it said is above.",
});

export const SshRefused = defineError<{ why: string }>({
  code: "CLI-073",
  kind: "outside",
  message: (p) => `the Director gave no way into the VMs: ${p.why}`,
  next: "`slipway task --result` shows what it answered.",
});

export const NoVmMeant = defineError<{ asked: string | undefined; deployment: string }>({
  code: "CLI-074",
  kind: "operator",
  message: (p) =>
    p.asked === undefined
      ? `no instance of deployment '${p.deployment}' has a VM with an address`
      : `no instance of deployment '${p.deployment}' that has a VM with an address is '${p.asked}'`,
  next: "`slipway instances` shows them.",
});
