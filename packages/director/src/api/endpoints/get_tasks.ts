import { listTasks, taskFilter } from "../../tasks/list.ts";
import { given } from "../call.ts";
import { json } from "../reply.ts";
import type { Handler } from "../route.ts";

export const getTasks: Handler = async ({ query }, { db }) => {
  const filter = taskFilter({
    state: given(query, "state"),
    verbose: given(query, "verbose"),
    limit: given(query, "limit"),
    deployment: given(query, "deployment"),
    context_id: given(query, "context_id"),
  });
  return json(await listTasks(db, filter));
};
