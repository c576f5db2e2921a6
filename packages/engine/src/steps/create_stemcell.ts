import type { StemcellCid } from "@slipway/protocol/ids";
import { type JsonObject, jsonObject } from "@slipway/protocol/schema/json";
import type { Stemcell } from "@slipway/protocol/stemcell/stemcell-mf";
import * as v from "valibot";
import { callFields, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { createStep } from "./define.ts";

/** A stemcell that was unpacked, on its way to one CPI. */
export interface StemcellUpload {
  readonly stemcell: Pick<
    Stemcell,
    "name" | "version" | "operatingSystem" | "digest" | "apiVersion" | "cloudProperties"
  >;
  readonly imagePath: string;
  readonly cpi: string;
  /** For CPIs of version 3. */
  readonly tags: JsonObject;
}

const schema = v.object({
  ...callFields,
  name: v.string(),
  version: v.string(),
  operatingSystem: v.string(),
  digest: v.string(),
  apiVersion: v.number(),
  imagePath: v.string(),
  cloudProperties: jsonObject(),
  tags: jsonObject(),
});
type CreateStemcell = v.InferOutput<typeof schema>;

/** Returns the scope under which uploads of one stemcell to one CPI are journaled. */
export const stemcellScope = (name: string, version: string, cpi: string): string =>
  `stemcell ${name}/${version} ${cpi}`;

/** The image may be gone when it is settled: a CPI that has done the work answers all the same, another refuses. */
export const createStemcell = createStep<CreateStemcell, StemcellCid, StemcellUpload>({
  name: "create_stemcell",
  subject: "stemcell",
  calls: ["cpi create_stemcell"],
  version: 2,
  schema,
  upgrade: { 1: fromVersion1 },
  intent: ({ stemcell, imagePath, cpi, tags }, context) => ({
    requestId: newRequestId(context),
    cpi,
    name: stemcell.name,
    version: stemcell.version,
    operatingSystem: stemcell.operatingSystem,
    digest: stemcell.digest,
    apiVersion: stemcell.apiVersion,
    imagePath,
    cloudProperties: stemcell.cloudProperties,
    tags,
  }),
  run: async (intent, context) => {
    const { imagePath, cloudProperties, tags, cpi } = intent;
    return await cloudOf(context, cpi).createStemcell(
      imagePath,
      cloudProperties,
      tags,
      optionsOf(intent, context),
    );
  },
  record: ({ name, version, operatingSystem, digest, apiVersion, cpi }, cid, writes) =>
    writes.addStemcell({ name, version, operatingSystem, digest, apiVersion, cpi, cid }),
  event: ({ name, version }) => ({
    action: "create",
    objectType: "stemcell",
    objectName: `${name}/${version}`,
  }),
  stray: ({ name, version, cpi }) => ({
    kind: "stemcell",
    about: stemcellScope(name, version, cpi),
    addresses: [],
  }),
});

/**
 * Upgrades a version 1 intent, which named the stemcell only in its scope. The rest is in the archive, which is uploaded again.
 */
function fromVersion1(older: JsonObject): JsonObject {
  const [, name = "unknown", version = "unknown"] =
    /^stemcell ([^/]+)\/(\S+)/.exec(String(older.about)) ?? [];
  return {
    cpi: "",
    ...older,
    name,
    version,
    operatingSystem: "unknown",
    digest: "unknown",
    apiVersion: 1,
    imagePath: "",
    cloudProperties: {},
    tags: {},
  };
}
