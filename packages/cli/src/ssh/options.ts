import type { Option } from "../command.ts";

/** Options of `ssh`, `scp` and `logs` that lead to the VM of create-env, in upstream's spelling. */
export const ENDPOINT_OPTIONS: readonly Option[] = [
  { flags: "--director", about: "go to the VM of create-env; no Director is asked" },
  {
    flags: "--agent-endpoint <url>",
    about: "of its agent: https://user:password@host:6868 (BOSH_AGENT_ENDPOINT)",
  },
  {
    flags: "--agent-certificate <path>",
    about: "of the agent's authority: a file, or the text itself (BOSH_AGENT_CERTIFICATE)",
  },
];

/** Options of `ssh`, `scp`, `logs` and `pcap` that name a gateway, in upstream's spelling. */
export const GATEWAY_OPTIONS: readonly Option[] = [
  { flags: "--gw-host <host>", about: "go through this host (BOSH_GW_HOST)" },
  { flags: "--gw-user <name>", about: "who we are there (BOSH_GW_USER)" },
  { flags: "--gw-private-key <path>", about: "the key for it (BOSH_GW_PRIVATE_KEY)" },
  { flags: "--gw-disable", about: "through no host, whatever the environment says (BOSH_GW_DISABLE)" },
  { flags: "--gw-socks5 <url>", about: "go through this proxy or jumpbox, before any host (BOSH_ALL_PROXY)" },
];

/** Options of `ssh` and `scp` for operators who have a user in the VMs already. */
export const KEY_OPTIONS: readonly Option[] = [
  { flags: "-i, --private-key <path>", about: "enter with this key; no user is made" },
  { flags: "-l, --username <name>", about: "of --private-key (vcap)" },
];
