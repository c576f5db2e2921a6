import type { Option, TypedInput } from "../command.ts";
import type { Tools } from "../tools.ts";
import { VariablesNotFound } from "./errors.ts";

/** For every command that takes a document. */
export const documentOptions: readonly Option[] = [
  { flags: "-v, --var <name=value>", about: "set a variable; the value is read as YAML", repeats: true },
  { flags: "-l, --vars-file <path>", about: "variables from a YAML file", repeats: true },
  { flags: "--var-file <name=path>", about: "set a variable to the text of a file", repeats: true },
  { flags: "--vars-env <prefix>", about: "variables from the environment: MY takes MY_name", repeats: true },
  { flags: "--vars-store <path>", about: "a YAML file with generated variables; missing ones are generated" },
  {
    flags: "-o, --ops-file <path>",
    about: "change the document with the operations of a YAML file",
    repeats: true,
  },
];

export interface ReadDocument {
  /** YAML, keys sorted. */
  readonly text: string;
  readonly value: unknown;
}

/**
 * Reads a document with the operations and variables the user gave; `-` is standard input. With `all`, a placeholder without a
 * value is an error; otherwise it stays as it is.
 */
export async function readDocument(
  path: string,
  given: TypedInput,
  tools: Pick<Tools, "env" | "random" | "clock">,
  { all }: { readonly all: boolean },
): Promise<ReadDocument> {
  const { evaluateFile } = await import("./evaluate-file.ts");
  const { value, missing } = await evaluateFile(path, given, tools);
  if (all && missing.length > 0) throw VariablesNotFound({ names: missing });
  const { writeDocument } = await import("../documents/write-document.ts");
  return { text: writeDocument(value), value };
}
