import { stemcellCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const deleteStemcell = method({
  name: "delete_stemcell",
  summary: "Removes an image.",
  args: [arg("stemcell_cid", stemcellCid, "what create_stemcell returned")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: true,
  repeat: "harmless",
  errors: ["CloudError", "StemcellNotFound"],
  rules: ["A stemcell that is gone is a success: Directors do not know StemcellNotFound."],
});
