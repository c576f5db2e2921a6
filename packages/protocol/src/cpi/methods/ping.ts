import * as v from "valibot";
import { method, result } from "../method.ts";

export const ping = method({
  name: "ping",
  summary: "Is anybody there. Listed in the contract, called by nobody.",
  args: [],
  results: [result(v.string(), "`pong`")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["NotImplemented"],
  rules: [],
});
