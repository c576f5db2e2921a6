import { defineError } from "@slipway/kernel/errors";

/** DIA-01x reaching agents. What a single agent does wrong is said by the errors of `agent.ts`. */

export const SecretUnreadable = defineError<{ path: string; why: string }>({
  code: "DIA-010",
  kind: "outside",
  message: (p) => `the secret that agents' passwords are made of, ${p.path}, cannot be used: ${p.why}`,
  next: "Restore the file from a backup; it was left as it is. Moved away, a new secret is made at the next start, and every VM must be recreated before its agent can be reached.",
});

export const NoAgentAddress = defineError<{ agentId: string; why: string }>({
  code: "DIA-011",
  kind: "outside",
  message: (p) => `the agent ${p.agentId} cannot be reached: ${p.why}`,
  next: "Give the group a manual network, or a CPI that returns the addresses of dynamic ones from create_vm (API version 2), or reach agents over NATS (docs/nats.md), which needs no addresses. Then recreate the VM.",
});
