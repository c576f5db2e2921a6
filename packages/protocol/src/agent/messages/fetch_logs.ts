import * as v from "valibot";
import { open } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const fetchLogs = message({
  name: "fetch_logs",
  summary: "Packs logs and stores them as a blob.",
  args: [
    messageArg("types", v.string(), "comma list of job, agent, system"),
    messageArg("filters", v.nullable(v.array(v.string())), "globs; empty means all"),
  ],
  mode: "task",
  result: open({ blobstore_id: v.string(), sha1: v.string() }),
  cancellable: true,
  upstream: true,
});
