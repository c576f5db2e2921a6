import { defineError } from "@slipway/kernel/errors";

/** The first words of these messages are upstream's, for those who look for them. */
export const BadArchive = defineError<{ what: string; why: string }>({
  code: "AGF-001",
  kind: "outside",
  message: (p) => `Decompressing ${p.what}: it is not unpacked: ${p.why}`,
  next: "Look at the archive with tar -tvz. A release is packed by bosh create-release; upload it again.",
});

export const NotInstalled = defineError<{ what: string; why: string }>({
  code: "AGF-002",
  kind: "outside",
  message: (p) => `Preparing ${p.what}: ${p.why}`,
  next: "Remove the cause and deploy again. Nothing of it is left on the VM, and what runs was not touched.",
});

export const NameTaken = defineError<{ path: string }>({
  code: "AGF-003",
  kind: "outside",
  message: (p) => `${p.path} is no link, so the agent does not replace it`,
  next: "Move it away in the VM, then deploy again.",
});

export const SpecUnusable = defineError<{ why: string }>({
  code: "AGF-004",
  kind: "outside",
  message: (p) => `the apply spec cannot be used: ${p.why}`,
  next: "Compare what the Director sends with its release; deploy again.",
});
