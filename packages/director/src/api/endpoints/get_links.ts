import { link, linksQuery } from "@slipway/protocol/director/link";
import * as v from "valibot";
import { listLinks } from "../../store/link-lists.ts";
import { linksDeployment, linkWire } from "../link-lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Lists the links that jobs of the deployment consume, and those that outsiders have of it. */
export const getLinks = endpoint({ query: linksQuery, reply: v.array(link) }, async ({ query }, { db }) => {
  const { id } = await linksDeployment(db, query);
  return json((await listLinks(db, id)).map(linkWire));
});
