import { defineError } from "@slipway/kernel/errors";

/** CLV: documents, and the variables put into them. */

export const FileUnreadable = defineError<{ what: string; path: string }>({
  code: "CLV-001",
  kind: "operator",
  typed: true,
  message: (p) => `${p.what} ${p.path} cannot be read`,
  next: "Check the path and who may read it. Paths are taken from the directory the command runs in.",
});

export const BadAssignment = defineError<{ option: string; given: string; why: string }>({
  code: "CLV-002",
  kind: "operator",
  typed: true,
  message: (p) => `${p.option} ${p.given}: ${p.why}`,
  next: "Write it as NAME=VALUE. A value that is not meant as YAML is put in quotes inside: -v 'motd=\"a: b\"'.",
});

export const BadVarsFile = defineError<{ path: string; found: string }>({
  code: "CLV-003",
  kind: "operator",
  message: (p) => `${p.path} must be a map from names to values, found ${p.found}`,
  next: "Write each variable on a line of its own: `name: value`. Nothing was changed.",
});

const lines = (names: readonly string[]) => names.map((name) => `\n  - ${name}`).join("");

export const VariablesNotFound = defineError<{ names: readonly string[] }>({
  code: "CLV-004",
  kind: "operator",
  message: (p) => `Expected to find variables:${lines(p.names)}`,
  next: "Give each with -v NAME=VALUE, -l FILE, --var-file or --vars-env; --vars-store generates those the document defines with a type.",
});

export const VariablesNotUsed = defineError<{ names: readonly string[] }>({
  code: "CLV-005",
  kind: "operator",
  message: (p) => `Expected to use variables:${lines(p.names)}`,
  next: "Correct their names, or do not give them. Without --var-errs-unused they are ignored.",
});

export const BadDefinition = defineError<{ what: string; place: string; why: string }>({
  code: "CLV-006",
  kind: "operator",
  message: (p) => `${p.what}: variables${p.place}: ${p.why}`,
  next: "A variable is defined by a map with name, type and options.",
});

export const GenerationFailed = defineError<{ name: string; why: string }>({
  code: "CLV-007",
  kind: "operator",
  message: (p) => `Generating variable '${p.name}': ${p.why}`,
  next: "Correct its definition under `variables`, or give the value yourself. Variables generated before it are kept in the store.",
});

export const CircularVariables = defineError<{ names: readonly string[] }>({
  code: "CLV-008",
  kind: "operator",
  message: (p) =>
    `Detected recursion: the options of these variables need each other: ${p.names.join(" -> ")}`,
  next: "Give one of them yourself, or take it out of the other's options.",
});

export const StoreFailed = defineError<{ doing: string; path: string }>({
  code: "CLV-009",
  kind: "outside",
  message: (p) => `${p.doing} the variables store ${p.path} failed`,
  next: "Check the disk and who may write there, and run the command again: what was generated before is kept.",
});

export const BadPath = defineError<{ path: string; why: string }>({
  code: "CLV-010",
  kind: "operator",
  typed: true,
  message: (p) => `--path ${p.path}: ${p.why}`,
  next: "Write it as in ops files: /instance_groups/name=web/networks/0. A ? after a piece allows it to be missing.",
});
