import { isDeepStrictEqual } from "node:util";
import { type JsonObject, jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { NetworkCreated } from "../clouds/cloud.ts";
import { callFields, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { createStep } from "./define.ts";
import { valuesIn } from "./values.ts";

/** A subnet of a managed network, for one CPI to make. */
export interface SubnetOrder {
  readonly network: string;
  readonly subnet: string;
  readonly cpi: string;
  readonly range: string | undefined;
  readonly gateway: string | undefined;
  readonly netmaskBits: number | undefined;
  readonly cloudProperties: JsonObject;
}

const schema = v.object({
  ...callFields,
  network: v.string(),
  subnet: v.string(),
  range: v.optional(v.string()),
  gateway: v.optional(v.string()),
  netmaskBits: v.optional(v.number()),
  cloudProperties: jsonObject(),
});

/** Returns the scope under which changes of one network are journaled. Deployments share networks. */
export const networkScope = (network: string): string => `network ${network}`;

export const createNetwork = createStep<v.InferOutput<typeof schema>, NetworkCreated, SubnetOrder>({
  name: "create_network",
  subject: "subnet",
  calls: ["cpi create_network"],
  version: 1,
  schema,
  intent: (order, context) => ({ requestId: newRequestId(context), ...order }),
  run: async (intent, context) => {
    const { range, gateway, netmaskBits, cpi } = intent;
    const properties = await valuesIn(intent.cloudProperties, context);
    const definition: JsonObject = {
      type: "manual",
      ...(range !== undefined && { range }),
      ...(gateway !== undefined && { gateway }),
      ...(netmaskBits !== undefined && { netmask_bits: netmaskBits }),
      cloud_properties: properties,
    };
    const made = await cloudOf(context, cpi).createNetwork(definition, optionsOf(intent, context));
    return { ...made, cloudProperties: withPins(made.cloudProperties, intent.cloudProperties, properties) };
  },
  // What the cloud config says holds; the CPI chooses what it leaves open.
  record: ({ network, subnet, cpi, range, gateway }, made, writes) =>
    writes.addSubnet({
      network,
      name: subnet,
      cid: made.cid,
      cpi,
      range: range ?? made.range ?? "",
      gateway: gateway ?? made.gateway ?? null,
      reserved: made.reserved,
      cloudProperties: made.cloudProperties,
    }),
  event: (_, made) => ({ action: "create", objectType: "subnet", objectName: made?.cid ?? null }),
  stray: ({ network, subnet }) => ({
    kind: "network",
    about: `subnet '${subnet}' of network '${network}'`,
    addresses: [],
  }),
});

/** Restores the pins in properties that a CPI returns with their values, because the record keeps pins only. */
const withPins = (said: JsonObject, asked: JsonObject, told: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(said).map(([key, value]) => [
      key,
      Object.hasOwn(told, key) && isDeepStrictEqual(value, told[key]) ? (asked[key] ?? value) : value,
    ]),
  );
