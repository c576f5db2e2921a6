import { defineError } from "@slipway/kernel/errors";

/** AGS-00x where settings come from, 01x what is kept, 02x the start. 010 and 03x: `state/errors.ts`, `blobs/errors.ts`. */

export const SettingsNotFound = defineError<{ attempts: readonly string[] }>({
  code: "AGS-001",
  kind: "outside",
  message: (p) => `no source gave usable settings: ${p.attempts.join("; ")}`,
  next: "Check the sources in agent.json and that the CPI gave this VM its settings. The agent is started again by init.",
});

export const SourceFailed = defineError<{ source: string; why: string }>({
  code: "AGS-002",
  kind: "outside",
  message: (p) => `${p.source}: ${p.why}`,
  next: "Check that the source exists in this VM and can be reached.",
});

export const SettingsInvalid = defineError<{ source: string; problems: readonly string[] }>({
  code: "AGS-003",
  kind: "outside",
  message: (p) => `${p.source} holds no usable settings: ${p.problems.join("; ")}`,
  next: "Look at what the source serves; a proxy's error page or an empty document is not settings.",
});

export const RegistryNotAllowed = defineError<{ source: string }>({
  code: "AGS-004",
  kind: "operator",
  message: (p) => `${p.source} has no agent_id and names a registry, but agent.json says UseRegistry false`,
  next: "Let the CPI send complete settings (API v2 with a stemcell of API 2), or take UseRegistry out of agent.json.",
});

export const RegistryKeyUnknown = defineError<{ source: string }>({
  code: "AGS-005",
  kind: "operator",
  message: (p) => `${p.source} names a registry, but neither an instance id nor server.name to ask it for`,
  next: "Give the HTTP source its InstanceIDPath, or let the CPI send server.name.",
});

export const RegistryHasNothing = defineError<{ key: string; registry: string }>({
  code: "AGS-006",
  kind: "outside",
  message: (p) => `the registry ${p.registry} has no settings for ${JSON.stringify(p.key)} yet`,
  next: "The CPI stores them after it has made the VM; if they never come, look at the CPI's log.",
});

export const SettingsNotLoaded = defineError<Record<never, never>>({
  code: "AGS-011",
  kind: "outside",
  message: () => "the agent has no settings yet",
  next: "Wait until it has read them; ping says what it waits for.",
});

export const ConfigUnreadable = defineError<{ path: string }>({
  code: "AGS-020",
  kind: "operator",
  message: (p) => `the configuration ${p.path} cannot be read`,
  next: "Check the path given with --config and that the agent's user may read it.",
});

export const ConfigInvalid = defineError<{ path: string; problems: readonly string[] }>({
  code: "AGS-021",
  kind: "operator",
  message: (p) => `the configuration ${p.path} is not valid: ${p.problems.join("; ")}`,
  next: "Correct the file; slipway-agent --help shows its shape.",
});

export const BadUsage = defineError<{ why: string }>({
  code: "AGS-022",
  kind: "operator",
  message: (p) => `slipway-agent was called wrongly: ${p.why}`,
  next: "Call it as slipway-agent --config agent.json; --help says more.",
});

export const StepFailed = defineError<{ step: string; tries: number }>({
  code: "AGS-023",
  kind: "outside",
  message: (p) => `the agent could not start: the step '${p.step}' failed ${p.tries} times`,
  next: "Look at the cause. Init starts the agent again; every step can be repeated.",
});

export const NoMbus = defineError<Record<never, never>>({
  code: "AGS-024",
  kind: "operator",
  message: () => "the settings name no message bus: neither mbus nor env.bosh.mbus.urls",
  next: "Set agent.mbus in the CPI's configuration, or env.bosh.mbus.urls.",
});

export const DiskNotBack = defineError<{ cid: string; why: string }>({
  code: "AGS-025",
  kind: "outside",
  message: (p) => `persistent disk ${p.cid}, mounted before the restart, is not mounted again: ${p.why}`,
  next: "Attach the disk again (add_persistent_disk, mount_disk) or recreate the VM. Nothing else was mounted in its place.",
});
