import * as v from "valibot";
import { open, text } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

/** `GET /stemcells`: one for each name, version and CPI. */
export const stemcell = open({
  id: v.nullish(v.number()),
  name: v.string(),
  operating_system: v.nullish(v.string()),
  version: v.string(),
  cid: v.nullish(v.string()),
  cpi: v.nullish(v.string()),
  api_version: v.nullish(v.number()),
  deployments: v.nullish(doc(v.array(open({ name: v.string() })), "who uses it")),
});
export type Stemcell = v.InferOutput<typeof stemcell>;

/** `POST /stemcell_uploads`: would an upload bring something new? */
export const stemcellUpload = open({
  stemcell: open({
    name: v.optional(v.nullable(doc(v.string(), "may be empty: it is not known yet"))),
    version: v.optional(v.nullable(v.string())),
  }),
});
export const stemcellUploadAnswer = open({ needed: v.boolean() });

/** `POST /stemcells` as JSON: an address, from which the Director fetches it. */
export const stemcellAddress = open({
  location: doc(hidden(text("location")), "a URL"),
  sha1: v.optional(v.nullable(doc(v.string(), "digests: `sha256:...`, several joined by `;`"))),
});
export const stemcellUploadQuery = open({
  fix: v.optional(doc(v.string(), "`true`: replace it where it is there already")),
});

/** `DELETE /stemcells/:name/:version`. */
export const stemcellDeletionQuery = open({
  force: v.optional(doc(v.string(), "`true`: go on when the CPI fails")),
});
