import { slug } from "@slipway/engine/model/names";
import { messageTrail } from "@slipway/kernel/errors";
import { storeText } from "@slipway/protocol/agent/store-file";
import { storeFileQuery } from "@slipway/protocol/director/instance";
import { addEvent } from "../../store/events.ts";
import { checked } from "../call.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";
import { storeFileOf } from "../store-file.ts";

/** Ours: writes a small text file on the instance's persistent disk, through its agent. The body is its text. */
export const putInstanceGroupsStore = endpoint({ query: storeFileQuery }, async (call, services) => {
  const { db } = services;
  const file = await storeFileOf(call, services);
  const content = checked(storeText, await call.text(), "body");
  const event = {
    user: call.user,
    action: "write",
    objectType: "store_file",
    objectName: file.path,
    deployment: file.deployment,
    instance: slug(file.instance),
    context: { bytes: Buffer.byteLength(content) },
  };
  // Before it is written: what happened to a disk is never without an event.
  const begun = await addEvent(db, event);
  try {
    await file.ask((agent, signal) => agent.writeStoreFile(file.path, content, { signal }));
  } catch (error) {
    await addEvent(db, { ...event, parentId: begun, error: messageTrail(error) });
    throw error;
  }
  return nothing();
});
