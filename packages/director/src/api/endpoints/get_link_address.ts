import { linkAddress as addressOf } from "@slipway/engine/jobs/links/address";
import { linkAddress, linkAddressQuery } from "@slipway/protocol/director/link";
import { dnsIds } from "../../store/dns-ids.ts";
import { queryList, queryString } from "../call.ts";
import { linkOf } from "../link-lookup.ts";
import { LinkIdMissing, LinkNotFound, LinkStatusUnknown, LinkZoneUnknown } from "../link-refusals.ts";
import { canAccess } from "../permissions.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

const STATUSES = ["healthy", "unhealthy", "all", "default"];

/** The name under which all instances behind a link are found. */
export const getLinkAddress = endpoint(
  { query: linkAddressQuery, reply: linkAddress },
  async ({ query, access }, { db }) => {
    const id = queryString(query, "link_id");
    if (id === undefined) throw LinkIdMissing({});
    const azs = [...queryList(query, "azs"), ...queryList(query, "azs[]")];
    const status = queryString(query, "status") ?? "default";
    if (!STATUSES.includes(status)) throw LinkStatusUnknown({ known: STATUSES });
    const found = await linkOf(db, id);
    // An external link is of a shared provider, which every team may consume.
    if (!found.external && !canAccess(access, "read", found.teams)) throw LinkNotFound({ id });
    const ids = await dnsIds(db, [String(found.content.deployment_name)]);
    for (const az of azs) if (!ids.azs.has(az)) throw LinkZoneUnknown({ az });
    const asked = { azs, status };
    return json({ address: addressOf(found, ids, asked) });
  },
);
