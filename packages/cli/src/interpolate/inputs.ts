import { clone, kindOf, newMap, type Tree } from "@slipway/engine/documents/tree";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { toError } from "@slipway/kernel/errors";
import { isObject } from "@slipway/protocol/schema/json";
import type { TypedInput } from "../command.ts";
import { BadAssignment, BadVarsFile } from "./errors.ts";
import { expanded, readText } from "./read-text.ts";

/** Variables and operations that the user gave for a document. */
export interface Inputs {
  /** Values by name; dots in names have become maps. */
  readonly variables: Readonly<Tree>;
  readonly ops: readonly OpsFile[];
  /** Path of the store of generated variables. */
  readonly store: string | undefined;
}

export interface OpsFile {
  readonly file: string;
  readonly operations: unknown;
}

type Assignment = readonly [name: string, value: unknown];

/** Later ones win: environment, files of variables, variables from files, variables. */
export async function readInputs(
  given: TypedInput,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Inputs> {
  const assignments: Assignment[] = given.texts("vars-env").flatMap((prefix) => fromEnvironment(prefix, env));
  for (const path of given.texts("vars-file")) assignments.push(...(await fromVarsFile(path)));
  for (const text of given.texts("var-file")) assignments.push(await fromTextFile(text));
  for (const text of given.texts("var")) assignments.push(fromText(text));
  const ops: OpsFile[] = [];
  for (const file of given.texts("ops-file")) {
    ops.push({ file, operations: parseYaml(await readText("the ops file", file), file) });
  }
  const store = given.text("vars-store");
  return { variables: assigned(assignments), ops, store: store === undefined ? undefined : expanded(store) };
}

function fromEnvironment(prefix: string, env: Readonly<Record<string, string | undefined>>): Assignment[] {
  if (prefix === "") {
    throw BadAssignment({ option: "--vars-env", given: "''", why: "the prefix is empty" });
  }
  const begin = `${prefix}_`;
  return Object.entries(env).flatMap(([name, text]): Assignment[] =>
    name.startsWith(begin) && name !== begin && text !== undefined
      ? [[name.slice(begin.length), parseYaml(text, `the environment variable ${name}`)]]
      : [],
  );
}

async function fromVarsFile(path: string): Promise<readonly Assignment[]> {
  const value = parseYaml(await readText("the file of variables", path), path);
  if (value === null) return [];
  if (!isObject(value)) throw BadVarsFile({ path, found: kindOf(value) });
  return Object.entries(value);
}

async function fromTextFile(text: string): Promise<Assignment> {
  const [name, path] = split("--var-file", text, "path");
  return [name, await readText(`the file for the variable ${name},`, path)];
}

/** Never says the value: it may be a password. */
function fromText(text: string): Assignment {
  const [name, value] = split("-v", text, "value");
  let read: unknown;
  try {
    read = parseYaml(value, `the value of ${name}`);
  } catch (error) {
    const why = `its value is no YAML: ${toError(error).message}`;
    throw BadAssignment({ option: "-v", given: name, why }, { cause: error });
  }
  // As text it keeps its line breaks and blanks, which YAML would fold.
  return [name, typeof read === "string" ? withoutQuotes(value) : read];
}

const withoutQuotes = (text: string): string =>
  text.length >= 2 && /^(?:".*"|'.*')$/s.test(text) ? text.slice(1, -1) : text;

function split(option: string, text: string, what: string): readonly [name: string, value: string] {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  const bad = (why: string) => BadAssignment({ option, given: name === "" ? "''" : name, why });
  if (at < 0) throw bad(`expected it in the form NAME=${what.toUpperCase()}`);
  if (name === "") throw bad("the name is empty");
  if (at === text.length - 1) throw bad(`the ${what} is empty`);
  return [name, text.slice(at + 1)];
}

/** `a.b: 1` is `b` of the map `a`, beside what `a` had before. */
function assigned(assignments: readonly Assignment[]): Tree {
  const variables = newMap();
  for (const [name, value] of assignments) {
    const pieces = name.split(".");
    const last = pieces.pop() ?? "";
    let at = variables;
    for (const [i, piece] of pieces.entries()) {
      const found = Object.hasOwn(at, piece) ? at[piece] : undefined;
      if (found !== undefined && !isObject(found)) {
        const why = `${pieces.slice(0, i + 1).join(".")} is ${kindOf(found)} already, not a map`;
        throw BadAssignment({ option: "variable", given: name, why });
      }
      const next = found ?? newMap();
      at[refused(piece, name)] = next;
      at = next;
    }
    at[refused(last, name)] = clone(value);
  }
  return variables;
}

function refused(key: string, name: string): string {
  if (key === "__proto__") {
    throw BadAssignment({ option: "variable", given: name, why: "__proto__ cannot be a name" });
  }
  return key;
}
