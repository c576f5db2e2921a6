import { defineError } from "@slipway/kernel/errors";

export const NetworkNotMade = defineError<{ network: string; why: string }>({
  code: "DIO-090",
  kind: "outside",
  number: 100,
  message: (p) => `deployment failed during creating managed networks: network '${p.network}': ${p.why}`,
  next: "Nothing of the network is left, unless a warning says so. Correct the cloud config or the cloud, and deploy again.",
});

export const NetworkUnknownYet = defineError<{ network: string }>({
  code: "DIO-091",
  kind: "operator",
  number: 100,
  message: (p) =>
    `network '${p.network}' is not made yet, and the CPI chooses its range: without it no address can be planned`,
  next: "Deploy without --dry-run, which makes the network, or give its subnets ranges.",
});
