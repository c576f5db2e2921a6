import * as v from "valibot";
import { message } from "../message.ts";

export const ping = message({
  name: "ping",
  summary: "Is the agent there.",
  args: [],
  mode: "answer",
  result: v.literal("pong"),
  upstream: true,
});
