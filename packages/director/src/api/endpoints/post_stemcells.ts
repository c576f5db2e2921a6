import { readDigest } from "@slipway/engine/stemcells/digest";
import { updateStemcellParams } from "@slipway/protocol/director/task-params";
import { open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { flag, jsonBody } from "../call.ts";
import type { Handler } from "../route.ts";
import { startTask } from "../start-task.ts";

const body = open({ location: text("location"), sha1: v.optional(v.nullable(v.string())) });

/** A stemcell at an address. */
export const postStemcells: Handler = async (call, services) => {
  const { location, sha1 } = await jsonBody(call, body);
  if (sha1) readDigest(sha1);
  return startTask(call, services, updateStemcellParams, {
    type: "update_stemcell",
    description: "create stemcell",
    params: { location, sha1: sha1 || undefined, fix: flag(call.query, "fix") },
  });
};
