import * as v from "valibot";
import { jsonObject } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const compilePackage = message({
  name: "compile_package",
  summary: "Compiles a package.",
  args: [
    messageArg("blob_id", v.string(), "source"),
    messageArg("digest", v.string(), "of the source"),
    messageArg("name", v.string(), ""),
    messageArg("version", v.string(), ""),
    messageArg("dependencies", v.nullable(jsonObject()), ""),
  ],
  mode: "task",
  result: jsonObject(),
  upstream: true,
});
