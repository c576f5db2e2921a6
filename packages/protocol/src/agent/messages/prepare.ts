import * as v from "valibot";
import { applySpec } from "../apply-spec.ts";
import { message, messageArg } from "../message.ts";

export const prepare = message({
  name: "prepare",
  summary: "Fetches what a specification will need.",
  args: [messageArg("spec", applySpec, "see the apply spec")],
  mode: "task",
  result: v.literal("prepared"),
  cancellable: true,
  upstream: true,
});
