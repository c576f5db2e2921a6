import * as v from "valibot";
import { applySpec } from "../apply-spec.ts";
import { message, messageArg, optionalArg } from "../message.ts";

export const drain = message({
  name: "drain",
  summary: "Runs the drain scripts of the jobs.",
  args: [
    messageArg("type", v.string(), "`update` or `shutdown`"),
    optionalArg("spec", v.nullable(applySpec), "the next specification"),
  ],
  mode: "task",
  result: v.number(),
  cancellable: true,
  upstream: true,
});
