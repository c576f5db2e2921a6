import { addEvent } from "../../store/events.ts";
import { removeExternalLink } from "../../store/link-lists.ts";
import { inTransaction } from "../../store/open.ts";
import { param } from "../call.ts";
import { linkOf } from "../link-lookup.ts";
import { LinkNotExternal, LinkNotFound } from "../link-refusals.ts";
import { canAccess } from "../permissions.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Links of jobs go with deploys only. An external link is its consumer's and of the deployment that offers it. */
export const deleteLinksId = endpoint({}, async (call, { db }) => {
  const id = param(call, "id");
  const found = await linkOf(db, id);
  const owners = [...found.teams, ...(found.external ? found.ownerTeams : [])];
  if (!canAccess(call.access, "admin", owners)) throw LinkNotFound({ id });
  if (!found.external) throw LinkNotExternal({});
  await inTransaction(db, async (tx) => {
    await removeExternalLink(tx, found.id);
    const event = { user: call.user, action: "delete", objectType: "link", objectName: String(found.id) };
    await addEvent(tx, event);
  });
  return nothing();
});
