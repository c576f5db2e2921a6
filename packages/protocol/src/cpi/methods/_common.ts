import * as v from "valibot";
import { json, jsonObject } from "../../schema/json.ts";

/** Callers ignore the value; ours is null. Other CPIs return true or "". */
export const nothing = v.optional(json());

export const metadata = jsonObject();
