import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import { hasPins } from "../documents/pins.ts";
import { resolvePins } from "../variables/pins.ts";
import type { FlowContext } from "./context.ts";

/** Replaces pins by their values: for calls, never for the records. */
export const valuesIn = <T extends JsonObject>(value: T, { variables, signal }: FlowContext): Promise<T> =>
  variables === undefined
    ? Promise.resolve(value)
    : resolvePins(value, async (id, name) => (await variables.byId(id, name, signal)).value);

/** Restores the pins in networks that a CPI returns with their values, because the record keeps pins only. */
export function withoutValues(said: Networks, asked: Networks): Networks {
  if (!hasPins(asked)) return said;
  return Object.fromEntries(
    Object.entries(said).map(([name, network]) => {
      const properties = Object.hasOwn(asked, name) ? asked[name]?.cloud_properties : undefined;
      return [name, properties === undefined ? network : { ...network, cloud_properties: properties }];
    }),
  );
}
