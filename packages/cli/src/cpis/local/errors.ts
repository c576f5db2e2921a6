import { defineError } from "@slipway/kernel/errors";

/** Said wherever sandboxes cannot be made, after what would allow them. */
export const ELSEWHERE =
  "In a container, it is that one that has to be started with user namespaces allowed. With a Docker Engine none of this is needed: --cpi docker.";

export const NoNamespaces = defineError<{ why: string; allow: string }>({
  code: "CLU-020",
  kind: "operator",
  message: (p) => `sandboxes cannot be made here: ${p.why}. To allow them: ${p.allow}. ${ELSEWHERE}`,
  next: "Allow them, then the demo again. Or with a Docker Engine: `slipway demo --cpi docker`.",
});

export const RangeTaken = defineError<{ address: string }>({
  code: "CLU-022",
  kind: "operator",
  message: (p) => `something listens on ${p.address} already; the demo's sandbox was to have that address`,
  next: "Choose other addresses of loopback: `slipway demo --range 127.40.0.0/24`.",
});
