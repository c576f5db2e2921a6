import { defineError } from "@slipway/kernel/errors";

export const ProblemsFound = defineError<{ count: number; deployment: string }>({
  code: "CLI-047",
  kind: "operator",
  message: (p) => `${p.count} ${p.count === 1 ? "problem" : "problems"} found`,
  next: "Repair with `slipway -d {deployment} cloud-check`.",
});

export const ProblemsUndecided = defineError<Record<never, never>>({
  code: "CLI-048",
  kind: "operator",
  typed: true,
  message: () => "there is no terminal to ask at what is to be done about each problem",
  next: "Say it with --auto or --resolution, or only look with `slipway cloud-check --report`.",
});

export const PlanUndecided = defineError<Record<never, never>>({
  code: "CLK-005",
  kind: "operator",
  typed: true,
  message: () => "there is no terminal to ask at what is to be planned for each type of problem",
  next: "Say it with --resolution, once for each kind of repair, such as --resolution recreate_vm. `slipway cloud-check --report` lists the problems.",
});

export const PlanUnreadable = defineError<{ path: string; why: string }>({
  code: "CLK-003",
  kind: "operator",
  typed: true,
  message: (p) => `the recovery plan ${p.path} cannot be used: ${p.why}`,
  next: "`slipway create-recovery-plan` writes one.",
});

export const NotPlanned = defineError<{ path: string; what: readonly string[] }>({
  code: "CLK-004",
  kind: "operator",
  message: (p) => `the recovery plan ${p.path} cannot be carried out as it is: ${p.what.join("; ")}`,
  next: "Correct the plan, or make another with `slipway create-recovery-plan`. Nothing was changed.",
});
