import { vmCid } from "../../ids.ts";
import { networks } from "../../settings/networks.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const configureNetworks = method({
  name: "configure_networks",
  summary: "Gave a running VM other networks. Removed in version 2; no Director has called it since 2015.",
  args: [arg("vm_cid", vmCid, "the VM"), arg("networks", networks, "name to network")],
  results: [result(nothing, "ignored")],
  since: 1,
  until: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["NotSupported", "VMNotFound", "CloudError"],
  rules: ["NotSupported makes the old Director recreate the VM, which is what a CPI without it wants."],
});
