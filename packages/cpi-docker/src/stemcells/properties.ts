import { check } from "@slipway/protocol/schema/check";
import { type JsonObject, open } from "@slipway/protocol/schema/json";
import { doc } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { BadProperties } from "../errors.ts";

/** Keys of a stemcell's `cloud_properties` that are ours; others are let through, a stemcell may be for several clouds. */
const stemcellProperties = open({
  image_reference: v.optional(
    doc(
      v.pipe(v.string(), v.nonEmpty("image_reference must not be empty")),
      "light: the image on the engine or in a registry",
    ),
  ),
  digest: v.optional(
    doc(
      v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/, "digest must be sha256: and 64 hex digits")),
      "light: which image that name must lead to",
    ),
  ),
  command: v.optional(
    doc(
      v.pipe(
        v.array(v.pipe(v.string(), v.nonEmpty("command must not have empty words"))),
        v.nonEmpty("command must not be empty"),
      ),
      "heavy: what its containers run; `/sbin/init` when left out",
    ),
  ),
});
export type StemcellProperties = v.InferOutput<typeof stemcellProperties>;

export function readStemcellProperties(given: JsonObject): StemcellProperties {
  const checked = check(stemcellProperties, given, "cloud_properties");
  if (!checked.ok) throw BadProperties({ what: "the stemcell", problems: checked.problems });
  return checked.value;
}
