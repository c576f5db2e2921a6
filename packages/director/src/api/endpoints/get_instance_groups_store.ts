import { storeFileQuery } from "@slipway/protocol/director/instance";
import { plain } from "../reply.ts";
import { endpoint } from "../route.ts";
import { storeFileOf } from "../store-file.ts";

/** Ours: a small text file of the instance's persistent disk, read by its agent. */
export const getInstanceGroupsStore = endpoint({ query: storeFileQuery }, async (call, services) => {
  const file = await storeFileOf(call, services);
  return plain(200, await file.ask((agent, signal) => agent.readStoreFile(file.path, { signal })));
});
