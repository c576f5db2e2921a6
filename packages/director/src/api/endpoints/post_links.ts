import { linkContent } from "@slipway/engine/jobs/links/content";
import { link, newLink } from "@slipway/protocol/director/link";
import { addEvent } from "../../store/events.ts";
import { addExternalLink, findProvider } from "../../store/link-lists.ts";
import { inTransaction } from "../../store/open.ts";
import { idOf, linkWire } from "../link-lookup.ts";
import {
  LinkConsumerTaken,
  LinkNetworkUnknown,
  LinkProviderNotShared,
  LinkProviderUnknown,
} from "../link-refusals.ts";
import { canAccess } from "../permissions.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Creates a link for an outsider, which then learns the addresses of a shared provider's instances. */
export const postLinks = endpoint({ body: newLink, reply: link }, async (call, { db }) => {
  const { link_provider_id: id, link_consumer: consumer, network } = await call.json();
  const { name } = consumer.owner_object;
  const provider = await findProvider(db, idOf(id));
  if (provider === undefined || provider.content === null) throw LinkProviderUnknown({ id });
  if (!provider.shared)
    throw canAccess(call.access, "read", provider.teams)
      ? LinkProviderNotShared({})
      : LinkProviderUnknown({ id });
  const networks = (provider.content.networks ?? []) as readonly string[];
  if (network && !networks.includes(network)) throw LinkNetworkUnknown({ network, id, name });
  const told = linkContent(
    provider.content,
    { network: network || undefined, ipAddresses: undefined },
    false,
  );
  if (!told.ok) throw LinkNetworkUnknown({ network: network ?? "", id, name });
  const made = await inTransaction(db, async (tx) => {
    const asked = { name, ownerTeams: call.access.adminOf };
    const added = await addExternalLink(tx, provider, asked, told.content, (teams) =>
      canAccess(call.access, "admin", teams),
    );
    if (added === undefined) throw LinkConsumerTaken({ name });
    if (!added.created) return added.link;
    const event = {
      user: call.user,
      action: "create",
      objectType: "link",
      objectName: String(added.link.id),
    };
    await addEvent(tx, event);
    return added.link;
  });
  return json(linkWire(made));
});
