import * as v from "valibot";
import { open } from "../../schema/json.ts";
import { compileDependencies } from "../compile-dependencies.ts";
import { message, messageArg } from "../message.ts";

export const compilePackage = message({
  name: "compile_package",
  summary: "Compiles a package.",
  args: [
    messageArg("blob_id", v.string(), "source"),
    messageArg("digest", v.string(), "of the source"),
    messageArg("name", v.string(), ""),
    messageArg("version", v.string(), ""),
    messageArg("dependencies", v.nullable(compileDependencies), "compiled packages by name"),
  ],
  mode: "task",
  cancellable: true,
  result: open({ result: open({ blobstore_id: v.string(), sha1: v.string() }) }),
  upstream: true,
});
