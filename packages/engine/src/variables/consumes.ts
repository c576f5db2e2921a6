import { isObject } from "@slipway/protocol/schema/json";
import { own, type Tree } from "../documents/tree.ts";
import { BadVariables } from "./errors.ts";

/** A name in a certificate that comes from a link. */
export interface LinkedName {
  readonly as: "alternative_name" | "common_name";
  /** The provider, as it is named. */
  readonly from: string;
  readonly type: string;
  /** `*` instead of the first part of the name. */
  readonly wildcard: boolean;
}

const AS = ["alternative_name", "common_name"] as const;

/** `consumes` of a variable. */
export function linkedNames(variable: string, type: string, consumes: unknown): readonly LinkedName[] {
  if (consumes === undefined || consumes === null) return [];
  const bad = (why: string) => BadVariables({ why });
  if (!isObject(consumes)) throw bad(`Consumes for variable '${variable}' must be a Hash or nil`);
  return Object.entries(consumes).map(([name, given]) => {
    if (type !== "certificate")
      throw bad(`Variable '${variable}' can not define 'consumes' key for type '${type}'`);
    const as = AS.find((one) => one === name);
    if (as === undefined)
      throw bad(
        `Consumer name '${name}' is not a valid consumer for variable '${variable}'. Acceptable consumer types are: ${AS.join(", ")}`,
      );
    if (!isObject(given)) throw bad(`Consumer '${name}' of variable '${variable}' must be a Hash`);
    const properties = own(given, "properties");
    return {
      as,
      from: text(given, "from") ?? name,
      type: text(given, "link_type") ?? "address",
      wildcard: isObject(properties) && own(properties, "wildcard") === true,
    };
  });
}

function text(given: Tree, key: string): string | undefined {
  const value = own(given, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value === "")
    throw BadVariables({ why: `'${key}' of what a variable consumes must be a String` });
  return value;
}

/** The options of a certificate, with the names that its links have. */
export function withLinkedNames(
  options: Tree,
  names: readonly { readonly linked: LinkedName; readonly name: string }[],
): Tree {
  const made: Record<string, unknown> = { ...options };
  for (const { linked, name } of names) {
    const written = linked.wildcard ? name.replace(/^[^.]*/, "*") : name;
    if (linked.as === "common_name") made.common_name ??= written;
    else {
      const others: unknown = made.alternative_names;
      made.alternative_names = [...(Array.isArray(others) ? (others as readonly unknown[]) : []), written];
    }
  }
  return made;
}
