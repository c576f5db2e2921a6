import { defineError } from "@slipway/kernel/errors";

export const DeploymentNameMissing = defineError<Record<never, never>>({
  code: "DIH-060",
  kind: "operator",
  number: 190024,
  message: () => "Deployment name is required",
  next: "Give it as the parameter `deployment`.",
});

export const LinkNotFound = defineError<{ id: string }>({
  code: "DIH-061",
  kind: "operator",
  number: 810000,
  status: 404,
  message: (p) => `Could not find a link with id ${p.id}`,
  next: "`bosh curl '/links?deployment=NAME'` lists those there are.",
});

export const LinkProviderUnknown = defineError<{ id: string }>({
  code: "DIH-062",
  kind: "operator",
  number: 810001,
  message: (p) => `Invalid link_provider_id: ${p.id}`,
  next: "`bosh curl '/link_providers?deployment=NAME'` lists those there are.",
});

export const LinkProviderNotShared = defineError<Record<never, never>>({
  code: "DIH-063",
  kind: "operator",
  number: 810002,
  message: () => "Provider not `shared`",
  next: "Say `shared: true` of it in the manifest of its deployment, and deploy.",
});

export const LinkNetworkUnknown = defineError<{ network: string; id: string; name: string }>({
  code: "DIH-064",
  kind: "operator",
  number: 810003,
  message: (p) => `Can't resolve network: \`${p.network}\` in provider id: ${p.id} for \`${p.name}\``,
  next: "Name a network of the provider's instance group, or none.",
});

export const LinkConsumerTaken = defineError<{ name: string }>({
  code: "DIH-070",
  kind: "operator",
  message: (p) => `the external consumer \`${p.name}\` of this provider belongs to another team`,
  next: "Choose another name for `link_consumer.owner_object`.",
});

export const LinkIdMissing = defineError<Record<never, never>>({
  code: "DIH-066",
  kind: "operator",
  number: 810006,
  message: () => "Link id is required",
  next: "Give it as the parameter `link_id`: `bosh curl '/links?deployment=NAME'` lists those there are.",
});

export const LinkStatusUnknown = defineError<{ known: readonly string[] }>({
  code: "DIH-067",
  kind: "operator",
  number: 810007,
  message: (p) => `status must be a one of: [${p.known.map((one) => JSON.stringify(one)).join(", ")}]`,
  next: "Give one of them, or none.",
});

export const LinkZoneUnknown = defineError<{ az: string }>({
  code: "DIH-068",
  kind: "operator",
  number: 810008,
  message: (p) => `az ${p.az} is not valid`,
  next: "Name a zone in which something was deployed, as `azs[]=z1`, or none.",
});

export const LinkNotExternal = defineError<Record<never, never>>({
  code: "DIH-065",
  kind: "operator",
  number: 810005,
  message: () => "Error deleting link: not a external link",
  next: "Links of jobs change with deploys only.",
});
