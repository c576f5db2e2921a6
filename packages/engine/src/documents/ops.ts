import { isObject } from "@slipway/protocol/schema/json";
import { BadOpsFile, OperationFailed } from "./errors.ts";
import { patch } from "./patch.ts";
import { parsePath } from "./pointer.ts";
import { clone, fingerprint, kindOf, own, type Tree } from "./tree.ts";

/**
 * Applies the operations of an ops file (its parsed YAML) in order. The document given is left as it is; an operation
 * that fails fails the file.
 */
export function applyOps(document: unknown, operations: unknown, file: string): unknown {
  if (!Array.isArray(operations)) {
    throw BadOpsFile({
      file,
      index: undefined,
      why: `an ops file must be a list of operations, found ${kindOf(operations)}`,
    });
  }
  let result = clone(document);
  for (const [index, operation] of operations.entries()) result = apply(result, operation, file, index);
  return result;
}

function apply(document: unknown, operation: unknown, file: string, index: number): unknown {
  const bad = (why: string) => BadOpsFile({ file, index, why });
  if (!isObject(operation)) throw bad(`an operation must be a map, found ${kindOf(operation)}`);
  const path = own(operation, "path");
  if (typeof path !== "string") throw bad(`it needs a path, found ${kindOf(path)}`);
  const pieces = parsePath(path);
  if (typeof pieces === "string") throw bad(`path '${path}': ${pieces}`);
  const type = own(operation, "type");
  const failed = (why: string) => OperationFailed({ file, index, why });
  switch (type) {
    case "replace": {
      if (!Object.hasOwn(operation, "value")) throw bad("replace needs a value");
      return patch(document, pieces, { kind: "replace", value: own(operation, "value") }, failed);
    }
    case "remove": {
      if (Object.hasOwn(operation, "value")) throw bad("remove takes no value");
      return patch(document, pieces, { kind: "remove" }, failed);
    }
    case "test": {
      test(document, operation, pieces, path, bad, failed);
      return document;
    }
    default:
      throw bad("its type must be replace, remove or test");
  }
}

/**
 * Returns the value at a path. An optional part that is missing is null, or the item that would be made. Throws the error that
 * `failed` makes.
 */
export function findAt(document: unknown, path: string, failed: (why: string) => Error): unknown {
  const pieces = parsePath(path);
  if (typeof pieces === "string") throw failed(pieces);
  if (pieces.at(-1)?.kind === "end") throw failed("/- points behind the list, where nothing is");
  let found: unknown = null;
  const see = (value: unknown) => {
    found = value;
  };
  patch(document, pieces, { kind: "look", see, lenient: true }, failed);
  return found;
}

type Pieces = Exclude<ReturnType<typeof parsePath>, string>;

function test(
  document: unknown,
  operation: Tree,
  pieces: Pieces,
  path: string,
  bad: (why: string) => Error,
  failed: (why: string) => Error,
): void {
  const absent = own(operation, "absent") === true;
  if (!absent && !Object.hasOwn(operation, "value")) throw bad("test needs a value or absent: true");
  const last = pieces.at(-1);
  if (last?.kind === "end") throw bad("test cannot look at /-");
  const found = look(document, pieces, failed, absent);
  if (absent) {
    if (found !== undefined) throw failed(`expected nothing at '${path}', but something is there`);
    return;
  }
  if (found === undefined || fingerprint(found.value) !== fingerprint(own(operation, "value"))) {
    throw failed(`what is at '${path}' is not the expected value`);
  }
}

/** Returns the value at a path. If `absent` is set, a path that leads nowhere is no error. */
function look(
  document: unknown,
  pieces: Pieces,
  failed: (why: string) => Error,
  absent: boolean,
): { readonly value: unknown } | undefined {
  let found: { readonly value: unknown } | undefined;
  const see = (value: unknown) => {
    found = { value };
  };
  const nowhere = new Error("nothing is there");
  try {
    patch(document, pieces, { kind: "look", see }, (why, missing) =>
      absent && missing ? nowhere : failed(why),
    );
  } catch (error) {
    if (error !== nowhere) throw error;
  }
  return found;
}
