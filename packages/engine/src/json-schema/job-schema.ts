import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { own } from "../documents/tree.ts";
import { schemaProblems } from "./validate.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** Validates the properties of a job with its `properties_schema.json`. Returns the problems in upstream's words. */
export function jobSchemaProblems(schema: Json, properties: JsonObject): readonly string[] {
  const draft = isObject(schema) ? own(schema, "$schema") : undefined;
  if (typeof draft !== "string" || draft.trim() === "")
    return ["You must declare your $schema draft version"];
  if (draft.replace(/#$/, "") !== DRAFT) return [`Only ${DRAFT} schema is currently supported`];
  return schemaProblems(schema, properties);
}
