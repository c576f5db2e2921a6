import { addEvent } from "../../store/events.ts";
import { inTransaction } from "../../store/open.ts";
import { removeStray } from "../../store/strays.ts";
import { param } from "../call.ts";
import { NoSuchStray } from "../refusals.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Ours: the operator has looked for it in the cloud and dealt with it. Nothing is asked of the CPI. */
export const deleteStraysId = endpoint({}, async (call, { db }) => {
  const id = param(call, "id");
  const removed = await inTransaction(db, async (tx) => {
    const found = /^\d{1,15}$/.test(id) && (await removeStray(tx, Number(id)));
    if (found) await addEvent(tx, { user: call.user, action: "delete", objectType: "stray", objectName: id });
    return found;
  });
  if (removed) return nothing();
  throw NoSuchStray({ name: id });
});
