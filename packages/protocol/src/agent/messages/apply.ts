import * as v from "valibot";
import { applySpec } from "../apply-spec.ts";
import { message, messageArg } from "../message.ts";

export const apply = message({
  name: "apply",
  summary: "Takes over a new specification.",
  args: [messageArg("spec", applySpec, "see the apply spec")],
  mode: "task",
  result: v.literal("applied"),
  cancellable: true,
  upstream: true,
});
