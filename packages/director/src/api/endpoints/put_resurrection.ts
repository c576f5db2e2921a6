import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { setAttribute } from "../../store/attributes.ts";
import { addEvent } from "../../store/events.ts";
import { inTransaction } from "../../store/open.ts";
import { jsonBody } from "../call.ts";
import { nothing } from "../reply.ts";
import type { Handler } from "../route.ts";
import { RESURRECTION_PAUSED } from "./get_resurrection.ts";

const body = open({ resurrection_paused: v.boolean() });

export const putResurrection: Handler = async (call, { db }) => {
  const { resurrection_paused: paused } = await jsonBody(call, body);
  await inTransaction(db, async (tx) => {
    await setAttribute(tx, RESURRECTION_PAUSED, String(paused));
    const objectName = paused ? "off" : "on";
    await addEvent(tx, { user: call.user, action: "update", objectType: "resurrection", objectName });
  });
  return nothing(200);
};
