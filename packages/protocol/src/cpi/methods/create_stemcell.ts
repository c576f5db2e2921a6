import * as v from "valibot";
import { stemcellCid } from "../../ids.ts";
import { jsonObject, open, text } from "../../schema/json.ts";
import { cloudProperties } from "../../settings/networks.ts";
import { arg, argSince, method, result } from "../method.ts";

export const createStemcell = method({
  name: "create_stemcell",
  summary: "Makes an image that VMs can start from.",
  args: [
    arg("image_path", text("image_path"), "local file; the CPI must not keep using it"),
    arg("cloud_properties", cloudProperties, "from stemcell.MF; light stemcells are recognised by them"),
    argSince(
      3,
      "env",
      v.nullable(open({ tags: v.optional(v.nullable(jsonObject())) })),
      "tags for the image",
    ),
  ],
  results: [result(stemcellCid, "cid")],
  since: 1,
  mandatory: true,
  repeat: "creates",
  errors: ["CloudError", "NotSupported"],
  rules: ["Version 3 adds the third argument; below it exactly two are sent."],
});
