import { defineError } from "@slipway/kernel/errors";

/** CLU-00x `up`, 01x `down`, 02x `demo`, 03x which CPI: `cpis/errors.ts`. */

export const PortInUse = defineError<{ host: string; port: number; holder: string }>({
  code: "CLU-001",
  kind: "operator",
  message: (p) => `port ${p.port} of ${p.host} is in use by ${p.holder}`,
  next: "Stop that, or choose another port with `slipway up --port N`; it is remembered.",
});

export const HomeInUse = defineError<{ dir: string; holder: string }>({
  code: "CLU-002",
  kind: "operator",
  message: (p) => `another process works in ${p.dir}: ${p.holder}`,
  next: "Wait for it, stop it with `slipway down`, or set SLIPWAY_HOME to another directory.",
});

export const RunsElsewhere = defineError<{ url: string; pid: number; port: number }>({
  code: "CLU-003",
  kind: "operator",
  message: (p) => `the Director runs already, at ${p.url} (process ${p.pid}), and not on port ${p.port}`,
  next: "Leave out --port, or run `slipway down` first.",
});

export const NotAnswering = defineError<{ pid: number; url: string }>({
  code: "CLU-004",
  kind: "outside",
  message: (p) => `process ${p.pid} is the Director of this directory and does not answer at ${p.url}`,
  next: "Look at its output (in the background: director.log in the state directory), then `slipway down` and `slipway up`.",
});

export const DetachFailed = defineError<{ how: string; log: string; said: string }>({
  code: "CLU-005",
  kind: "outside",
  message: (p) =>
    `the Director in the background did not start: it ${p.how}. The end of ${p.log}:\n${p.said}`,
  next: "Correct what the log names, then run `slipway up --detach` again.",
});

export const BadPort = defineError<{ given: string }>({
  code: "CLU-006",
  kind: "operator",
  typed: true,
  message: (p) => `--port takes a number up to 65535, got '${p.given}'`,
  next: "Give a free port, such as 25556.",
});

export const StateDirGiven = defineError<{ path: string }>({
  code: "CLU-007",
  kind: "operator",
  message: (p) => `${p.path} sets state_dir, and \`slipway up\` keeps its state in SLIPWAY_HOME`,
  next: "Take state_dir out of the file and set SLIPWAY_HOME instead.",
});

export const HomePrivate = defineError<{ dir: string; blocker: string; user: string }>({
  code: "CLU-009",
  kind: "operator",
  message: (p) =>
    `the database runs as the user ${p.user}, who cannot reach ${p.dir}: ${p.blocker} lets nobody else through`,
  next: "Set SLIPWAY_HOME to a directory outside of private ones (root's default is /var/lib/slipway), or let others pass through that one: chmod o+x {blocker}",
});

export const WillNotEnd = defineError<{ pid: number; seconds: number }>({
  code: "CLU-010",
  kind: "outside",
  message: (p) => `the Director, process ${p.pid}, was asked to stop and still runs after ${p.seconds} s`,
  next: "A step of a task may take that long: `slipway status` shows whether it has ended. `kill -9` is safe: `slipway down` then stops the rest, and tasks go on at the next `slipway up`.",
});

export const NotProven = defineError<{ pid: number; dir: string; why: string }>({
  code: "CLU-011",
  kind: "operator",
  message: (p) => `process ${p.pid} cannot be proven to be the Director of ${p.dir}: ${p.why}`,
  next: "Stop it where it was started, with Ctrl-C, or end it by hand once you are sure.",
});

export const ContainersLeft = defineError<{ dir: string; why: string }>({
  code: "CLU-012",
  kind: "operator",
  message: (p) => `${p.dir} was not removed: ${p.why}, and nothing else knows which they are`,
  next: "Start the Director and its engine, delete the deployments (`slipway -d NAME delete-deployment`), then run it again.",
});

export const DeploymentsLeft = defineError<{ dir: string; names: readonly string[] }>({
  code: "CLU-013",
  kind: "operator",
  message: (p) =>
    `${p.dir} was not removed: its Director has ${p.names.length === 1 ? "the deployment" : "the deployments"} ${p.names.join(", ")}, with VMs of another CPI`,
  next: "Delete them first (`slipway -d NAME delete-deployment`): without the records nobody knows their VMs and disks.",
});

export const OtherConfig = defineError<{ dir: string; has: string; asked: string }>({
  code: "CLU-014",
  kind: "operator",
  message: (p) =>
    `the Director of ${p.dir} has the configuration ${p.has}, and --config ${p.asked} was given`,
  next: "Leave out --config: it is remembered. If the other file is to take its place, say so once: --config FILE --accept config.",
});

export const ConfigGone = defineError<{ dir: string; path: string }>({
  code: "CLU-015",
  kind: "operator",
  message: (p) =>
    `the configuration ${p.path}, which the Director of ${p.dir} was started with, is not there`,
  next: "Put it back, or name where it is now: `slipway up --config FILE`. To go on without a configuration: `slipway up --no-config`.",
});

export const ConfigNoteUnreadable = defineError<{ path: string }>({
  code: "CLU-016",
  kind: "outside",
  message: (p) => `${p.path}, which holds the path of the Director's configuration, cannot be read`,
  next: "Restore it from a backup, or remove it and name the configuration again: `slipway up --config FILE`.",
});

export const BothConfigs = defineError<Record<never, never>>({
  code: "CLU-017",
  kind: "operator",
  typed: true,
  message: () => "--config and --no-config exclude each other",
  next: "Give one of them, or none for the configuration of the last time.",
});

export const BothTransports = defineError<Record<never, never>>({
  code: "CLU-040",
  kind: "operator",
  message: () => "--nats and --https exclude each other",
  next: "Give one of them, or none for what was chosen the last time.",
  typed: true,
});

export const NatsChoiceUnreadable = defineError<{ path: string }>({
  code: "CLU-042",
  kind: "outside",
  message: (p) => `${p.path}, which holds the ports of the NATS server, cannot be read`,
  next: "Restore it from a backup. Without it the agents of VMs on NATS look for a server that is elsewhere: remove it only to recreate those VMs.",
});
