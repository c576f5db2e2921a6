import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { pinIn, pinText } from "../documents/pins.ts";
import { fillInSlices, placeholdersInSlices } from "../documents/placeholders.ts";
import { findAll, type ResolveOptions, resolveVariables } from "./resolve.ts";

/** Pins every variable of a value. Fails if one is missing, before anything is made with the value. */
export async function pin<T extends JsonObject>(value: T, options: ResolveOptions): Promise<T> {
  if ((await placeholdersInSlices(value)).size === 0) return value;
  const found = await findAll(value, options);
  // Whether each may stand where it stands is known only with its value.
  await resolveVariables(value, options);
  return (await fillInSlices(value, (written) => {
    const one = found.get(written);
    if (one === undefined) return `((${written}))`;
    return pinText({ reference: [one.reference.name, ...one.reference.path].join("."), id: one.id });
  })) as T;
}

/** Values by their pins. */
export async function resolvePins<T extends JsonObject>(
  value: T,
  byId: (id: string, name: string) => Promise<unknown>,
): Promise<T> {
  const values = new Map<string, unknown>();
  for (const written of await placeholdersInSlices(value)) {
    const pinned = pinIn(written);
    if (pinned === undefined) continue;
    const [name = "", ...path] = pinned.reference.split(".");
    let at = await byId(pinned.id, name);
    for (const key of path) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    values.set(written, at);
  }
  if (values.size === 0) return value;
  return (await fillInSlices(value, (written) =>
    values.has(written) ? values.get(written) : `((${written}))`,
  )) as T;
}
