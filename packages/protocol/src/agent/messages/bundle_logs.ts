import * as v from "valibot";
import { open } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const bundleLogs = message({
  name: "bundle_logs",
  summary: "Packs logs into a file that stays on the VM.",
  args: [
    messageArg(
      "request",
      open({
        owning_user: v.optional(v.nullable(v.string())),
        log_type: v.string(),
        filters: v.optional(v.nullable(v.array(v.string()))),
      }),
      "which, and whose",
    ),
  ],
  mode: "answer",
  result: open({ logs_tar_path: v.string(), sha512: v.string() }),
  upstream: true,
});
