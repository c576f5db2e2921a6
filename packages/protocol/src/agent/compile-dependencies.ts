import * as v from "valibot";
import { json, mapOf, open } from "../schema/json.ts";
import { hidden, secret } from "../schema/marks.ts";

/** The compiled packages that a package needs while it is compiled, by name. */
export const compileDependencies = mapOf(
  open({
    name: v.string(),
    version: v.string(),
    sha1: v.string(),
    blobstore_id: v.optional(v.nullable(v.string())),
    package_get_signed_url: v.optional(v.nullable(secret(v.string()))),
    blobstore_headers: v.optional(v.nullable(hidden(mapOf(json())))),
  }),
);
export type CompileDependencies = v.InferOutput<typeof compileDependencies>;
