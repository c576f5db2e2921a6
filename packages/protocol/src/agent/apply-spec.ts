import * as v from "valibot";
import { type JsonObject, json, jsonObject, mapOf, open, openWith } from "../schema/json.ts";
import { hidden, secret } from "../schema/marks.ts";

const archive = open({
  sha1: v.optional(v.nullable(v.string())),
  blobstore_id: v.optional(v.nullable(v.string())),
});

const template = open({ name: v.string(), version: v.optional(v.nullable(v.string())) });

const jobSpec = open({
  name: v.optional(v.nullable(v.string())),
  release: v.optional(v.nullable(v.string())),
  template: v.optional(v.nullable(v.string())),
  version: v.optional(v.nullable(v.string())),
  templates: v.optional(v.nullable(v.array(template))),
});

/** A compiled package. Where it is comes from a signed URL or from the blobstore. */
const packageSource = open({
  name: v.optional(v.nullable(v.string())),
  version: v.optional(v.nullable(v.string())),
  sha1: v.optional(v.nullable(v.string())),
  blobstore_id: v.optional(v.nullable(v.string())),
  signed_url: v.optional(v.nullable(secret(v.string()))),
  blobstore_headers: v.optional(v.nullable(hidden(mapOf(json())))),
});

/** Opaque but for what belongs to the cloud. */
const network = openWith(
  { cloud_properties: v.optional(hidden(json())) },
  json(),
) as unknown as v.GenericSchema<JsonObject>;

/** Spec that a Director sends with apply, prepare and drain. Keys are present only when set; networks are opaque. */
export const applySpec = open({
  deployment: v.optional(v.nullable(v.string())),
  name: v.optional(v.nullable(v.string())),
  index: v.optional(v.nullable(v.number())),
  id: v.optional(v.nullable(v.string())),
  az: v.optional(v.nullable(v.string())),
  job: v.optional(v.nullable(jobSpec)),
  packages: v.optional(v.nullable(mapOf(packageSource))),
  networks: v.optional(v.nullable(mapOf(network))),
  resource_pool: v.optional(v.nullable(hidden(json()))),
  configuration_hash: v.optional(v.nullable(v.string())),
  persistent_disk: v.optional(v.nullable(v.number())),
  rendered_templates_archive: v.optional(v.nullable(archive)),
  properties: v.optional(v.nullable(hidden(jsonObject()))),
});
export type ApplySpec = v.InferOutput<typeof applySpec>;

/** Jobs count only when their templates can be fetched: create-env's first apply names empty strings. */
export const hasJobs = (spec: ApplySpec): boolean =>
  (spec.job?.templates ?? []).length > 0 && Boolean(spec.rendered_templates_archive?.blobstore_id);
