import { jsonObject } from "../../schema/json.ts";
import { hidden } from "../../schema/marks.ts";
import { message, messageArg } from "../message.ts";

export const compilePackageWithSignedUrl = message({
  name: "compile_package_with_signed_url",
  summary: "Compiles a package between URLs.",
  args: [messageArg("request", hidden(jsonObject()), "")],
  mode: "task",
  result: jsonObject(),
  upstream: true,
});
