import * as v from "valibot";
import { open } from "../../schema/json.ts";
import { apiVersionNumber } from "../api-version.ts";
import { capabilities } from "../capabilities.ts";
import { method, result } from "../method.ts";

export const infoResult = open({
  stemcell_formats: v.array(v.string()),
  api_version: v.optional(apiVersionNumber),
  capabilities: v.optional(capabilities),
});
export type InfoResult = v.InferOutput<typeof infoResult>;

export const info = method({
  name: "info",
  summary: "What this CPI is: the stemcell formats it takes and the highest api_version it speaks.",
  args: [],
  results: [result(infoResult, "`api_version` missing means 1")],
  since: 1,
  mandatory: true,
  repeat: "harmless",
  errors: [],
  rules: [
    "Answers without `api_version` in the request, and when the IaaS credentials are wrong.",
    "The same answer whatever `api_version` was asked for.",
    "`capabilities` announces draft dialects and methods of ours; real peers ignore it.",
  ],
});
