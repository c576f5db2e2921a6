import { OUTPUT_TYPES, taskOutputQuery } from "@slipway/protocol/director/task";
import { readOutput } from "../../tasks/output.ts";
import { type Query, queryString } from "../call.ts";
import { BadParameter } from "../refusals.ts";
import { nothing, plain } from "../reply.ts";
import { endpoint, type Route } from "../route.ts";
import { taskOf } from "./get_tasks_id.ts";

const typeOf = (query: { readonly type?: Query[string] }) => queryString(query, "type") ?? "debug";

/** Logs may show what only administrators of its deployment should see. */
export const outputPermission: Route["permission"] = (query) =>
  ["event", "result", "none"].includes(typeOf(query)) ? "task_read" : "task_admin";

/** Offsets are bytes. 416 means that there is nothing new: the CLI asks again with the same offset. */
export const getTasksIdOutput = endpoint({ query: taskOutputQuery }, async (call, { db }) => {
  const { id } = await taskOf(call, db);
  const asked = typeOf(call.query);
  if (asked === "none") return nothing();
  const type = OUTPUT_TYPES.find((known) => known === asked);
  if (type === undefined) {
    throw BadParameter({ name: "type", expected: `one of ${OUTPUT_TYPES.join(", ")}, none` });
  }
  const from = rangeStart(call.header("range"));
  const { data, size } = await readOutput(db, id, type, from ?? 0);
  if (from === undefined) return size === 0 ? nothing() : { ...plain(200, ""), body: data };
  if (from >= size) {
    return size === 0 ? nothing() : plain(416, "", { "content-range": `bytes */${size}` });
  }
  return {
    ...plain(206, "", { "content-range": `bytes ${from}-${size - 1}/${size}` }),
    body: data,
  };
});

/** Returns the start of `bytes=N-`. The CLI sends no other form; any other gets everything. */
function rangeStart(range: string | undefined): number | undefined {
  const start = /^bytes=(\d{1,15})-$/.exec(range?.trim() ?? "")?.[1];
  return start === undefined ? undefined : Number(start);
}
