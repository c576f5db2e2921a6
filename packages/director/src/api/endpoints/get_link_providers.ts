import { linkProvider, linksQuery } from "@slipway/protocol/director/link";
import * as v from "valibot";
import { listProviders } from "../../store/link-lists.ts";
import { linksDeployment } from "../link-lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getLinkProviders = endpoint(
  { query: linksQuery, reply: v.array(linkProvider) },
  async ({ query }, { db }) => {
    const { id: deploymentId, name: deployment } = await linksDeployment(db, query);
    const all = await listProviders(db, deploymentId);
    return json(
      all.map(({ id, name, shared, type, originalName, kind, job, group }) => ({
        id: String(id),
        name,
        shared,
        deployment,
        link_provider_definition: { type, name: originalName },
        owner_object: { type: kind, name: job, info: { instance_group: group } },
      })),
    );
  },
);
