import { mountedAt } from "../disks/persistent.ts";
import { writeStoreText } from "../disks/store-files.ts";
import type { Action } from "./action.ts";
import { NoStore } from "./errors.ts";

/** Writes a file to the store. Refused without a disk: the file would be lost with the VM. */
export const writeStoreFile: Action<"write_store_file"> = async ({ file }, { services }) => {
  const { store } = services.paths;
  if ((await mountedAt(services, store)) === undefined) throw NoStore({ store });
  await writeStoreText(store, file.path, file.content);
  return {};
};
