import { addEvent } from "../../store/events.ts";
import { removeExternalLink } from "../../store/link-lists.ts";
import { inTransaction } from "../../store/open.ts";
import { param } from "../call.ts";
import { linkOf } from "../link-lookup.ts";
import { LinkNotExternal } from "../link-refusals.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Links of jobs go with deploys only. */
export const deleteLinksId = endpoint({}, async (call, { db }) => {
  const found = await linkOf(db, param(call, "id"));
  if (!found.external) throw LinkNotExternal({});
  await inTransaction(db, async (tx) => {
    await removeExternalLink(tx, found.id);
    const event = { user: call.user, action: "delete", objectType: "link", objectName: String(found.id) };
    await addEvent(tx, event);
  });
  return nothing();
});
