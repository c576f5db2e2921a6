import { resolveVariables } from "@slipway/engine/variables/resolve";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { expect, it } from "vitest";
import { fillContext } from "./fill-context.ts";

const scope = { director: "lab", deployment: "shop" };

it("fills variables of properties, and leaves those of a network's cloud_properties to the CPI", async () => {
  const late = async <T extends JsonObject>(value: T): Promise<T> =>
    (await resolveVariables(value, { scope, get: async () => ({ id: "8f1c", value: "s3cret" }) })) as T;
  const context = {
    deployment: "shop",
    properties: { password: "((pw))" },
    networks: {
      private: { ip: "10.0.0.5", cloud_properties: { key: "((/v@8f1c))", tag: "x-((/v.a@8f1c))" } },
    },
    links: { db: { properties: { password: "((pw))" } } },
  };
  expect(await fillContext(context, { late, lateOf: (_, value) => late(value) })).toEqual({
    deployment: "shop",
    properties: { password: "s3cret" },
    networks: { private: { ip: "10.0.0.5", cloud_properties: { key: "((/v))", tag: "x-((/v.a))" } } },
    links: { db: { properties: { password: "s3cret" } } },
  });
});
