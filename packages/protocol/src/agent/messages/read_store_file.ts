import { open } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";
import { storePath, storeText } from "../store-file.ts";

export const readStoreFile = message({
  name: "read_store_file",
  summary: "Reads a small text file of the mounted persistent disk.",
  args: [messageArg("file", open({ path: storePath }), "a path on the disk")],
  mode: "task",
  result: open({ content: storeText }),
  unlogged: true,
  upstream: false,
});
