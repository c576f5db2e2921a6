import { mountedAt } from "../disks/persistent.ts";
import { readStoreText } from "../disks/store-files.ts";
import type { Action } from "./action.ts";
import { NoStore } from "./errors.ts";

export const readStoreFile: Action<"read_store_file"> = async ({ file }, { services }) => {
  const { store } = services.paths;
  if ((await mountedAt(services, store)) === undefined) throw NoStore({ store });
  return { content: await readStoreText(store, file.path) };
};
