import { linkConsumer, linksQuery } from "@slipway/protocol/director/link";
import * as v from "valibot";
import { listConsumers } from "../../store/link-lists.ts";
import { linksDeployment } from "../link-lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getLinkConsumers = endpoint(
  { query: linksQuery, reply: v.array(linkConsumer) },
  async ({ query }, { db }) => {
    const { id: deploymentId, name: deployment } = await linksDeployment(db, query);
    const all = await listConsumers(db, deploymentId);
    return json(
      all.map(({ id, name, optional, type, originalName, job, group }) => ({
        id: String(id),
        name,
        optional,
        deployment,
        owner_object: ownerOf(group, job),
        link_consumer_definition: { name: originalName, type },
      })),
    );
  },
);

function ownerOf(group: string | null, name: string) {
  if (group === null) return { type: "external", name };
  return group === "" ? { type: "variable", name } : { type: "job", name, info: { instance_group: group } };
}
