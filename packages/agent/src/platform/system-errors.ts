import { defineError } from "@slipway/kernel/errors";

/** Upstream's text: people search for it. */
export const NoDeviceForNetwork = defineError<{ network: string; mac: string }>({
  code: "AGN-001",
  kind: "operator",
  message: (p) => `No device found for network '${p.network}' with MAC address '${p.mac}'`,
  next: "Compare the settings' networks with the machine's interfaces (ip link). The CPI gave a NIC another address, or did not attach it.",
});

export const InvalidNetwork = defineError<{ network: string; why: string }>({
  code: "AGN-002",
  kind: "operator",
  message: (p) => `the network '${p.network}' cannot be configured: ${p.why}`,
  next: "Correct the network in the manifest or cloud config, or what the CPI makes of it.",
});

export const AddressesMissing = defineError<{ addresses: string }>({
  code: "AGN-003",
  kind: "outside",
  message: (p) => `the network configuration was applied, but these addresses did not appear: ${p.addresses}`,
  next: "Look at the state of the interface (ip addr, networkctl status, journalctl -u systemd-networkd).",
});

export const Ipv6Unavailable = defineError<{ network: string }>({
  code: "AGN-004",
  kind: "operator",
  message: (p) => `the network '${p.network}' has an IPv6 address, but this kernel runs without IPv6`,
  next: "Remove ipv6.disable=1 from the kernel's command line, or give the network an IPv4 address.",
});

export const InvalidUserName = defineError<{ what: string }>({
  code: "AGN-005",
  kind: "operator",
  message: (p) => `the user name given for ${p.what} is not acceptable`,
  next: "Users of ssh sessions are named bosh_ and 1 to 32 letters, digits, _ or -; others as useradd wants them.",
});

export const UnknownUser = defineError<{ user: string }>({
  code: "AGN-006",
  kind: "operator",
  message: (p) => `there is no user or group '${p.user}' on this machine`,
  next: "Use a stemcell that has it, or another user.",
});

export const InvalidUserPattern = defineError<{ why: string }>({
  code: "AGN-007",
  kind: "operator",
  message: (p) => `the user_regex cannot be used: ${p.why}`,
  next: "Send a plain pattern such as ^bosh_0f3a, without nested repetitions.",
});

export const HostKeyMissing = defineError<{ directory: string }>({
  code: "AGN-008",
  kind: "operator",
  message: (p) => `there is no ssh server in this VM: ${p.directory} has no host key`,
  next: "Use a stemcell with an ssh server in it that starts with the VM; ssh-keygen -A makes its keys.",
});

export const InvalidSecret = defineError<{ what: string }>({
  code: "AGN-009",
  kind: "operator",
  message: (p) => `${p.what} is not acceptable: it spans lines or holds characters that do not belong in it`,
  next: "Give it as it stands in the file it comes from. The value is not shown here on purpose.",
});

export const InvalidHostname = defineError<{ agentId: string }>({
  code: "AGN-010",
  kind: "operator",
  message: (p) => `the agent id '${p.agentId}' cannot be a host name`,
  next: "An agent id is 1 to 64 letters, digits, dots, _ or -, and starts with a letter or digit.",
});

export const CertificatesNotUpdated = defineError<{ tries: number }>({
  code: "AGN-011",
  kind: "outside",
  message: (p) =>
    `the trusted certificates are written, but the system did not take them up in ${p.tries} tries`,
  next: "Run update-ca-certificates -f in the VM and look at what it says.",
});

export const UnsafePath = defineError<{ path: string; why: string }>({
  code: "AGN-012",
  kind: "outside",
  message: (p) => `${p.path} is not written: ${p.why}`,
  next: "Find out who put that there. The agent writes as root and follows no links of users.",
});

export const SshdDidNotStart = defineError<{ said: string }>({
  code: "AGN-016",
  kind: "outside",
  message: (p) => `the ssh server of this sandbox did not start; it said: ${p.said}`,
  next: "Look at /var/vcap/bosh/log/sshd.log in the sandbox.",
});

export const BadTmpfsSize = defineError<{ path: string; size: string }>({
  code: "AGN-014",
  kind: "operator",
  message: (p) => `${p.path} is not put into memory: '${p.size}' is no size`,
  next: "Write tmpfs_size of env.bosh.job_dir or run_dir as a number with k, m, g or %, such as 100m.",
});

export const SecondBoot = defineError<Record<never, never>>({
  code: "AGN-015",
  kind: "operator",
  message: () =>
    "Refusing to boot: this VM keeps jobs or settings in memory and was rebooted, so they are gone",
  next: "Recreate the VM (bosh recreate); a reboot is not enough while env.bosh has tmpfs switched on.",
});
