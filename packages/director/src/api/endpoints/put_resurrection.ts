import { resurrectionChange } from "@slipway/protocol/director/resurrection";
import { RESURRECTION_PAUSED, setAttribute } from "../../store/attributes.ts";
import { addEvent } from "../../store/events.ts";
import { inTransaction } from "../../store/open.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";

export const putResurrection = endpoint({ body: resurrectionChange }, async (call, { db }) => {
  const { resurrection_paused: paused } = await call.json();
  await inTransaction(db, async (tx) => {
    await setAttribute(tx, RESURRECTION_PAUSED, String(paused));
    const objectName = paused ? "off" : "on";
    await addEvent(tx, { user: call.user, action: "update", objectType: "resurrection", objectName });
  });
  return nothing(200);
});
