import { task, tasksQuery } from "@slipway/protocol/director/task";
import * as v from "valibot";
import { listTasks, taskFilter } from "../../tasks/list.ts";
import { queryString } from "../call.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getTasks = endpoint(
  { query: tasksQuery, reply: v.array(task) },
  async ({ query, access }, { db }) => {
    const filter = taskFilter({
      state: queryString(query, "state"),
      verbose: queryString(query, "verbose"),
      limit: queryString(query, "limit"),
      deployment: queryString(query, "deployment"),
      context_id: queryString(query, "context_id"),
    });
    return json(await listTasks(db, { ...filter, teams: access.read ? undefined : access.adminOf }));
  },
);
