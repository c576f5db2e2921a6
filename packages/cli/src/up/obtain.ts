import type { Prepared } from "../cpis/descriptor.ts";
import type { Tools } from "../tools.ts";
import { type Cloud, openCloud } from "./cloud.ts";
import type { CloudOptions } from "./config.ts";
import { HomeInUse } from "./errors.ts";
import { type Found, findCloud } from "./found.ts";

export type Obtained = { readonly found: Found } | { readonly found?: undefined; readonly cloud: Cloud };

/** The home's cloud: the one that runs, in whatever process, or a new one in this process. */
export async function obtainCloud(
  options: CloudOptions,
  prepared: Prepared,
  tools: Tools,
): Promise<Obtained> {
  const before = await findCloud(tools, options.port);
  if (before !== undefined) return { found: before };
  try {
    return { cloud: await openCloud(options, prepared, tools) };
  } catch (error) {
    if (!HomeInUse.is(error)) throw error;
    // Somebody was quicker by a moment.
    const found = await findCloud(tools, options.port);
    if (found === undefined) throw error;
    return { found };
  }
}
