import { linkAddress as addressOf } from "@slipway/engine/jobs/links/address";
import { linkAddress, linkAddressQuery } from "@slipway/protocol/director/link";
import { dnsIds } from "../../store/dns-ids.ts";
import { given, many } from "../call.ts";
import { linkOf } from "../link-lookup.ts";
import { LinkNotFound } from "../link-refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** The name under which all instances behind a link are found. */
export const getLinkAddress = endpoint(
  { query: linkAddressQuery, reply: linkAddress },
  async ({ query }, { db }) => {
    const id = given(query, "link_id");
    if (id === undefined) throw LinkNotFound({ id: "" });
    const found = await linkOf(db, id);
    const asked = {
      azs: [...many(query, "azs"), ...many(query, "azs[]")],
      status: given(query, "status") ?? "default",
    };
    const ids = await dnsIds(db, [String(found.content.deployment_name)]);
    return json({ address: addressOf(found, ids, asked) });
  },
);
