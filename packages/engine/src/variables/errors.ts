import { defineError } from "@slipway/kernel/errors";

/** DIV: variables under the Director. Upstream's words and numbers. Never a value. */

export const BadVariableName = defineError<{ name: string; why: string }>({
  code: "DIV-001",
  kind: "operator",
  number: 540004,
  message: (p) => `Variable name '${p.name}' ${p.why}`,
  next: "Correct the name in the manifest or config. Nothing was changed.",
});

export const NotAbsolute = defineError<{ names: readonly string[] }>({
  code: "DIV-002",
  kind: "operator",
  number: 540004,
  message: (p) =>
    `Relative paths are not allowed in this context. The following must be be switched to use absolute paths: ${p.names.map((name) => `'${name}'`).join(", ")}`,
  next: "Cloud and CPI configs belong to no deployment: write the name with a slash in front, ((/shared/name)).",
});

export const VariablesUnresolved = defineError<{ problems: readonly string[]; number: number }>({
  code: "DIV-003",
  kind: "operator",
  number: (p) => p.number,
  message: (p) => p.problems.map((one) => `- ${one}`).join("\n"),
  next: "Define each under `variables` of the manifest, or set it with `slipway variable set NAME` (with `credhub set` where a config server is configured), and run the command again. Nothing was changed.",
});

export const BadVariables = defineError<{ why: string }>({
  code: "DIV-004",
  kind: "operator",
  number: 560000,
  message: (p) => p.why,
  next: "Correct `variables` of the manifest or runtime config: a list of maps with name, type and options. Nothing was changed.",
});

export const UsedBeforeResolved = defineError<{ name: string }>({
  code: "DIV-007",
  kind: "operator",
  number: 540001,
  message: (p) =>
    `Failed to fetch variable '${p.name}' from config server: it waits for the names of links, which are known only when the rest of the manifest is`,
  next: "Use it in `properties` of jobs and in `env` only.",
});

export const VariableNotGenerated = defineError<{ name: string; type: string; why: string }>({
  code: "DIV-005",
  kind: "operator",
  number: 540005,
  message: (p) => `Config Server failed to generate value for '${p.name}' with type '${p.type}'. ${p.why}`,
  next: "Correct its definition under `variables` and deploy again. What was generated before it is kept.",
});

export const VariableMissing = defineError<{ name: string; id?: string | undefined; why: string }>({
  code: "DIV-006",
  kind: "operator",
  number: 540002,
  message: (p) =>
    `Failed to find variable '${p.name}'${p.id === undefined ? "" : ` with id '${p.id}'`} from config server: HTTP Code '404', Error: '${p.why}'`,
  next: "Define it under `variables` of the manifest, or set it with `slipway variable set NAME` (with `credhub set` where a config server is configured), and deploy again.",
});
