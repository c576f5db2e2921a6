/** Parameters of an action, nested as the documentation of AWS shows them. Undefined ones are left out. */
export type QueryValue =
  | string
  | number
  | boolean
  | undefined
  | readonly QueryValue[]
  | { readonly [name: string]: QueryValue };

export type QueryParameters = { readonly [name: string]: QueryValue };

/** Writes an action as the body of a query request: `Filter.1.Value.1=running`. */
export function queryBody(action: string, version: string, parameters: QueryParameters): string {
  const flat: [string, string][] = [
    ["Action", action],
    ["Version", version],
  ];
  for (const [name, value] of Object.entries(parameters)) flatten(name, value, flat);
  return new URLSearchParams(flat).toString();
}

function flatten(name: string, value: QueryValue, into: [string, string][]): void {
  if (value === undefined) return;
  if (typeof value !== "object") into.push([name, String(value)]);
  else if (Array.isArray(value))
    for (const [at, one] of (value as readonly QueryValue[]).entries())
      flatten(`${name}.${at + 1}`, one, into);
  else for (const [key, one] of Object.entries(value)) flatten(`${name}.${key}`, one, into);
}

/** A filter of a Describe action. */
export const filter = (Name: string, ...Value: readonly string[]) => ({ Name, Value });
