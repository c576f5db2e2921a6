import * as v from "valibot";
import { json, mapOf, open, text } from "../../schema/json.ts";
import { hidden, secret } from "../../schema/marks.ts";
import { compileDependencies } from "../compile-dependencies.ts";
import { message, messageArg } from "../message.ts";

export const compilePackageWithSignedUrl = message({
  name: "compile_package_with_signed_url",
  summary: "Compiles a package between URLs.",
  args: [
    messageArg(
      "request",
      open({
        package_get_signed_url: secret(text("package_get_signed_url")),
        upload_signed_url: secret(text("upload_signed_url")),
        digest: v.string(),
        name: v.string(),
        version: v.string(),
        deps: v.optional(v.nullable(compileDependencies)),
        blobstore_headers: v.optional(v.nullable(hidden(mapOf(json())))),
      }),
      "where from and where to",
    ),
  ],
  mode: "task",
  cancellable: true,
  result: open({ result: open({ sha1: v.string() }) }),
  upstream: true,
});
