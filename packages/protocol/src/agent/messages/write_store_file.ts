import { jsonObject, open } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";
import { storePath, storeText } from "../store-file.ts";

/** A task, so that no disk is unmounted or migrated meanwhile. */
export const writeStoreFile = message({
  name: "write_store_file",
  summary: "Writes a small text file on the mounted persistent disk.",
  args: [
    messageArg(
      "file",
      open({ path: storePath, content: storeText }),
      "a path on the disk; an older file is replaced",
    ),
  ],
  mode: "task",
  result: jsonObject(),
  unlogged: true,
  upstream: false,
});
