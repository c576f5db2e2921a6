import { defineError } from "@slipway/kernel/errors";

export const ReleaseNotDeployed = defineError<{ release: string; deployment: string }>({
  code: "DIO-055",
  kind: "operator",
  number: 30011,
  message: (p) => `Release version '${p.release}' not found in deployment '${p.deployment}' manifest`,
  next: "`bosh deployments` lists the releases of each; deploy with this one first.",
});

export const JobNotInRelease = defineError<{ job: string; release: string }>({
  code: "DIO-056",
  kind: "operator",
  message: (p) => `Job '${p.job}' for release '${p.release}' doesn't exist`,
  next: "`bosh inspect-release {release}` lists its jobs.",
});
