import * as v from "valibot";
import { integer, json, jsonObject, open, text } from "../schema/json.ts";
import { hidden } from "../schema/marks.ts";

/** Name. A number that YAML read in place of a name is taken as its text. */
export const name = v.union([text("a name"), v.number()]);
export const names = v.array(name);

/** Properties of releases. They may contain credentials. */
export const properties = v.optional(hidden(jsonObject()));

/** `10.0.0.5`, `10.0.0.5-10.0.0.9`, `10.0.0.0/28`; one or a list. Lists may be nested, and null means no ranges. */
export const ranges = v.nullable(v.union([v.string(), v.array(json())]));

const megabytes = integer(1, "a size");
export const vmResources = open({ cpu: integer(1, "cpu"), ram: megabytes, ephemeral_disk_size: megabytes });
