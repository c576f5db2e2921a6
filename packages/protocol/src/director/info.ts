import * as v from "valibot";
import { integer, jsonObject, mapOf, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

const text = v.nullish(v.string());

/** `GET /info`: asked by every command first, without credentials. */
export const info = open({
  name: v.string(),
  uuid: v.string(),
  version: doc(v.string(), "free text"),
  user: v.nullish(doc(v.string(), "null unless the credentials are good")),
  cpi: text,
  stemcell_os: v.nullish(doc(v.string(), "of the Director's own VM; `-`: it has none")),
  stemcell_version: text,
  user_authentication: v.nullish(
    open({ type: doc(v.string(), "`basic` or `uaa`"), options: v.optional(jsonObject()) }),
  ),
  features: v.nullish(mapOf(open({ status: v.boolean(), extras: v.optional(jsonObject()) }))),
  slipway: v.nullish(
    doc(
      open({
        cpi_api_version: doc(v.number(), "the highest CPI API version the Director asks for"),
        problems: v.optional(
          doc(v.array(v.string()), "what keeps it from working at present: no space, no database"),
        ),
        upkeep: v.optional(
          doc(v.array(v.string()), "what is not done yet, of authorities and certificates of agents"),
        ),
        access: v.optional(
          doc(
            open({
              admin: doc(v.boolean(), "may do everything"),
              read: doc(v.boolean(), "may see everything but secrets"),
              admin_of: doc(v.array(v.string()), "teams whose deployments the user may change"),
              member_of: doc(v.array(v.string()), "teams whose deployments the user may see"),
            }),
            "what the user may do, of requests with good credentials",
          ),
        ),
      }),
      "ours: other Directors have none",
    ),
  ),
});
export type Info = v.InferOutput<typeof info>;

/** `GET /director/certificate_expiry`. */
export const certificateExpiry = open({
  certificate_path: v.string(),
  expiry: doc(v.string(), "`2027-01-01T00:00:00Z`"),
  days_left: integer(Number.MIN_SAFE_INTEGER, "days_left"),
});
