import * as v from "valibot";
import { networkCid } from "../../ids.ts";
import { integer, jsonObject, open } from "../../schema/json.ts";
import { cloudProperties } from "../../settings/networks.ts";
import { arg, method, result } from "../method.ts";

export const networkDefinition = open({
  type: v.optional(v.string()),
  range: v.optional(v.string()),
  gateway: v.optional(v.string()),
  netmask_bits: v.optional(integer(0, "netmask_bits")),
  cloud_properties: v.optional(v.nullable(cloudProperties)),
});

export const networkAddresses = open({
  range: v.optional(v.string()),
  gateway: v.optional(v.string()),
  reserved: v.optional(v.array(v.string())),
});

export const createNetwork = method({
  name: "create_network",
  summary: "Makes a network.",
  args: [
    arg(
      "definition",
      networkDefinition,
      "type is `manual`; range, gateway and netmask_bits as the manifest has them",
    ),
  ],
  results: [
    result(
      v.strictTuple([networkCid, networkAddresses, jsonObject()]),
      "`[cid, {range, gateway, reserved}, cloud_properties]`",
    ),
  ],
  since: 1,
  mandatory: false,
  repeat: "creates",
  errors: ["NotImplemented", "CloudError"],
  rules: ["Called only with `director.networks.enable_cpi_management`."],
});
