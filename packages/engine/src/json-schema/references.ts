import { isObject, type Json } from "@slipway/protocol/schema/json";
import { own } from "../documents/tree.ts";

/** `#`, `#/$defs/port`, `#anchor`, and the same behind the schema's own `$id`. Nothing is fetched. */
export function resolveReference(written: string, root: Json): Json | undefined {
  const id = isObject(root) ? own(root, "$id") : undefined;
  const local = typeof id === "string" && written.startsWith(id) ? written.slice(id.length) : written;
  if (local === "" || local === "#") return root;
  if (!local.startsWith("#")) return undefined;
  const fragment = decoded(local.slice(1));
  return fragment.startsWith("/") ? pointedTo(fragment, root) : anchored(fragment, root);
}

function pointedTo(pointer: string, root: Json): Json | undefined {
  let at: unknown = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = Array.isArray(at) ? at[Number(key)] : isObject(at) ? own(at, key) : undefined;
  }
  return at as Json | undefined;
}

function anchored(name: string, schema: unknown): Json | undefined {
  if (Array.isArray(schema)) return firstOf(schema, name);
  if (!isObject(schema)) return undefined;
  const here = [own(schema, "$anchor"), own(schema, "$dynamicAnchor")].includes(name);
  return here ? (schema as Json) : firstOf(Object.values(schema), name);
}

function firstOf(schemas: readonly unknown[], name: string): Json | undefined {
  for (const one of schemas) {
    const found = anchored(name, one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
