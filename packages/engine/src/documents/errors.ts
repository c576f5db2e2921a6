import { defineError } from "@slipway/kernel/errors";

/**
 * Errors of YAML, ops files and variables. Mistakes in a manifest's content are `PlanProblem`s, reported together by `NotValid`.
 */

export const BadYaml = defineError<{
  what: string;
  line: number;
  column: number;
  problem: string;
  fix: string;
}>({
  code: "DIM-001",
  kind: "operator",
  message: (p) => `${p.what}, line ${p.line}, column ${p.column}: ${p.problem}. ${p.fix}`,
  next: "Correct the document at the place named and send it again. Nothing was changed.",
});

export const YamlTooBig = defineError<{ what: string; why: string }>({
  code: "DIM-002",
  kind: "operator",
  message: (p) => `${p.what} is too big to be read: ${p.why}`,
  next: "Take out what is not needed, or split it: several configs may be given under several names. Nothing was changed.",
});

export const BadOpsFile = defineError<{ file: string; index: number | undefined; why: string }>({
  code: "DIM-003",
  kind: "operator",
  message: (p) =>
    p.index === undefined ? `${p.file}: ${p.why}` : `operation [${p.index}] in ${p.file} failed: ${p.why}`,
  next: "Correct the operation: type replace, remove or test, a path that begins with /, and a value where one belongs.",
});

export const OperationFailed = defineError<{ file: string; index: number; why: string }>({
  code: "DIM-004",
  kind: "operator",
  message: (p) => `operation [${p.index}] in ${p.file} failed: ${p.why}`,
  next: "Compare the path with the document. A ? after a piece allows it and everything to its right to be missing.",
});

export const BadVariableValue = defineError<{ name: string; where: string; why: string }>({
  code: "DIM-005",
  kind: "operator",
  message: (p) => `the variable ${p.name}, used at ${p.where}, cannot be interpolated: ${p.why}`,
  next: "Give a value that fits the place: inside longer text only strings and whole numbers, anything where it stands alone.",
});

export const VariablesMissing = defineError<{ names: readonly string[] }>({
  code: "DIM-006",
  kind: "operator",
  message: (p) => `Expected to find variables: ${p.names.join(", ")}`,
  next: "Give them with -v, -l, --var-file, --vars-env or --vars-store.",
});

export const NotValid = defineError<{ text: string; number: number }>({
  code: "DIM-007",
  kind: "operator",
  number: (p) => p.number,
  message: (p) => p.text,
  next: "Correct the places named and deploy again.",
});

export const NotAMap = defineError<{ what: string; found: string }>({
  code: "DIM-008",
  kind: "operator",
  message: (p) => `${p.what} must be a map of keys to values, not ${p.found}`,
  next: "Correct the document and send it again. Nothing was changed.",
});
