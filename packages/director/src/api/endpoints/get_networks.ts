import { network, networksQuery } from "@slipway/protocol/director/network";
import * as v from "valibot";
import { listNetworks } from "../../store/networks.ts";
import { queryFlag } from "../call.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { utc } from "../times.ts";

/** Lists orphaned networks with `orphaned=true`, as upstream; without it all of them, which upstream does not list. */
export const getNetworks = endpoint(
  { query: networksQuery, reply: v.array(network) },
  async ({ query }, { db }) => {
    const orphaned = queryFlag(query, "orphaned");
    const all = await listNetworks(db);
    return json(
      all
        .filter(({ orphanedAt }) => !orphaned || orphanedAt !== null)
        .map(({ name, type, createdAt, orphanedAt, deployments, subnets }) => ({
          name,
          type,
          created_at: utc(createdAt),
          orphaned_at: orphanedAt === null ? "" : utc(orphanedAt),
          orphaned: orphanedAt !== null,
          deployments: [...deployments],
          subnets: subnets.map((one) => ({
            ...{ name: one.name, cid: one.cid, cpi: one.cpi, range: one.range, gateway: one.gateway },
            reserved: [...one.reserved],
          })),
        })),
    );
  },
);
