import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { uploadedTo } from "../../store/stemcells.ts";
import { jsonBody } from "../call.ts";
import { json } from "../reply.ts";
import type { Handler } from "../route.ts";

const body = open({
  stemcell: open({
    name: v.optional(v.nullable(v.string())),
    version: v.optional(v.nullable(v.string())),
  }),
});

/** The CPI of a Director without CPI config. */
const ONLY_CPI = "";

/** Whether an upload would bring something new. For an address whose name is not known the CLI sends empty strings. */
export const postStemcellUploads: Handler = async (call, { db }) => {
  const { name, version } = (await jsonBody(call, body)).stemcell;
  if (!name || !version) return json({ needed: true });
  return json({ needed: !(await uploadedTo(db, name, version)).includes(ONLY_CPI) });
};
