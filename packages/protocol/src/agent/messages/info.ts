import * as v from "valibot";
import { open } from "../../schema/json.ts";
import { message } from "../message.ts";

export const info = message({
  name: "info",
  summary: "The version of this protocol, and how the agent came by its settings.",
  args: [],
  mode: "answer",
  result: open({ api_version: v.number() }),
  upstream: true,
});
