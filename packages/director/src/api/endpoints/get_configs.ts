import { config, configsQuery } from "@slipway/protocol/director/config";
import * as v from "valibot";
import { listConfigs } from "../../store/configs.ts";
import { queryFlag, queryInt, queryString } from "../call.ts";
import { teamsOf } from "../change-config.ts";
import { configFor } from "../config-wire.ts";
import { canAccess } from "../permissions.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** `limit` counts per type and name; `latest=true` is a limit of one. */
export const getConfigs = endpoint(
  { query: configsQuery, reply: v.array(config) },
  async ({ query, access }, { db, documents }) => {
    const limit = queryFlag(query, "latest") ? 1 : queryInt(query, "limit", 1);
    const configs = await listConfigs(db, {
      type: queryString(query, "type"),
      name: queryString(query, "name"),
      limit,
    });
    const seen = configs.filter((config) => canAccess(access, "read", teamsOf(config)));
    return json(await Promise.all(seen.map((config) => configFor(access, config, documents))));
  },
);
