import { networkCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const deleteNetwork = method({
  name: "delete_network",
  summary: "Removes a network.",
  args: [arg("network_cid", networkCid, "the network")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["NetworkNotFound", "NotImplemented", "CloudError"],
  rules: [],
});
