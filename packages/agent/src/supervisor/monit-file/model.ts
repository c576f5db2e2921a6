/** Parts of a monit file that a supervisor needs, each with its line. */
export interface MonitFileContent {
  readonly services: readonly Service[];
  readonly includes: readonly Include[];
  /** Statements that monit accepts and this supervisor ignores. */
  readonly warnings: readonly Remark[];
}

export interface Remark {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

export type Warn = (line: number, remark: string) => void;

export interface Include {
  readonly pattern: string;
  readonly line: number;
}

export const SERVICE_KINDS = [
  "process",
  "file",
  "directory",
  "filesystem",
  "system",
  "host",
  "program",
  "network",
  "fifo",
] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

export type MonitTarget =
  | { readonly by: "pidfile"; readonly path: string }
  | { readonly by: "matching"; readonly pattern: string }
  | { readonly by: "path"; readonly path: string }
  | { readonly by: "command"; readonly program: MonitProgram }
  | { readonly by: "address"; readonly address: string }
  | { readonly by: "nothing" };

export interface Service {
  readonly kind: ServiceKind;
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly target: MonitTarget;
  readonly start?: MonitProgram;
  readonly stop?: MonitProgram;
  readonly groups: readonly string[];
  readonly dependsOn: readonly Dependency[];
  readonly mode: "active" | "passive" | "manual";
  /** Behavior at a reboot: start what ran, start nothing, or keep the last state. */
  readonly onReboot: "start" | "nostart" | "laststate";
  readonly everyCycles: number;
  readonly rules: readonly Rule[];
}

export interface Dependency {
  readonly name: string;
  readonly line: number;
}

export interface MonitProgram {
  readonly argv: readonly string[];
  readonly uid?: string;
  readonly gid?: string;
  readonly timeoutSeconds: number;
}

export interface Rule {
  readonly line: number;
  readonly test: Test;
  /** The test must hold `count` times within `cycles` cycles. */
  readonly rate: Rate;
  readonly action: MonitAction;
  readonly recovery: MonitAction;
}

export interface Rate {
  readonly count: number;
  readonly cycles: number;
}

export type MonitAction =
  | { readonly do: "alert" | "restart" | "start" | "stop" | "unmonitor" }
  | { readonly do: "exec"; readonly program: MonitProgram };

export type Operator = ">" | "<" | "=" | "!=";

export type MonitResource =
  | "cpu"
  | "totalcpu"
  | "mem"
  | "totalmem"
  | "children"
  | "loadavg1"
  | "loadavg5"
  | "loadavg15"
  | "swap"
  | "cpuuser"
  | "cpusystem"
  | "cpuwait"
  | "uptime"
  | "threads";

export type Test =
  | { readonly on: "existence"; readonly exists: boolean }
  | { readonly on: "resource"; readonly limits: readonly ResourceLimit[] }
  | { readonly on: "connection"; readonly connection: MonitConnection; readonly fails: boolean }
  | { readonly on: "restarts"; readonly count: number; readonly cycles: number }
  | { readonly on: "changed"; readonly what: Changing }
  | { readonly on: "timestamp"; readonly operator: Operator; readonly seconds: number }
  | { readonly on: "size"; readonly operator: Operator; readonly bytes: number }
  | {
      readonly on: "space" | "inode";
      readonly free: boolean;
      readonly operator: Operator;
      readonly limit: MonitAmount;
    }
  | { readonly on: "permission"; readonly mode: number }
  | { readonly on: "uid" | "gid"; readonly id: string }
  | { readonly on: "checksum"; readonly expected: string }
  | { readonly on: "status"; readonly operator: Operator; readonly code: number }
  | { readonly on: "match"; readonly pattern: string; readonly not: boolean }
  /** Known to monit, not evaluated here; a warning says so. */
  | { readonly on: "nothing" };

export type Changing = "pid" | "ppid" | "timestamp" | "size" | "checksum" | "permission" | "status";

export interface ResourceLimit {
  readonly resource: MonitResource;
  readonly operator: Operator;
  readonly limit: MonitAmount;
}

/** Kilobytes for memory, a plain number for counts, percent for both. */
export interface MonitAmount {
  readonly value: number;
  readonly unit: "percent" | "kb" | "number";
}

export interface MonitConnection {
  readonly host: string;
  readonly port?: number;
  readonly unixSocket?: string;
  readonly type: "tcp" | "tcpssl" | "udp";
  readonly protocol: "default" | "http";
  readonly request: string;
  readonly hostHeader?: string;
  readonly status?: { readonly operator: Operator; readonly code: number };
  readonly timeoutSeconds: number;
  readonly exchange: readonly { readonly send?: string; readonly expect?: string }[];
}
