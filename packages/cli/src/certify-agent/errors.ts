import { defineError } from "@slipway/kernel/errors";

export const AgentDidNotStart = defineError<{ program: string; why: string; said: string }>({
  code: "CLI-094",
  kind: "outside",
  message: (p) => `the agent ${p.program} did not start: ${p.why}; it said: ${p.said || "nothing"}`,
  next: "It was started with -C CONFIG -b DIRECTORY -P PLATFORM. --platform and --agent-arg change the rest.",
});

export const AgentFileMissing = defineError<{ path: string }>({
  code: "CLI-095",
  kind: "operator",
  message: (p) => `there is no agent at ${p.path}`,
  next: "Name the executable of the agent.",
  typed: true,
});
