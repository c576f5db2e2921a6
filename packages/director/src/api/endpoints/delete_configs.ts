import { configDeletionQuery } from "@slipway/protocol/director/config";
import { deleteConfigs, latestConfig } from "../../store/configs.ts";
import { addEvent } from "../../store/events.ts";
import { inTransaction } from "../../store/open.ts";
import { queryString } from "../call.ts";
import { demandConfig } from "../change-config.ts";
import { BadConfigRequest, NoSuchConfig } from "../refusals.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";

export const deleteConfigsByName = endpoint({ query: configDeletionQuery }, async (call, { db }) => {
  const type = queryString(call.query, "type");
  const name = queryString(call.query, "name");
  if (type === undefined || name === undefined) {
    throw BadConfigRequest({ why: "'type' and 'name' of the config to delete must be given" });
  }
  const count = await inTransaction(db, async (tx) => {
    const latest = await latestConfig(tx, type, name);
    if (latest !== undefined) demandConfig(call.access, type, latest);
    const deleted = await deleteConfigs(tx, { type, name });
    const event = { action: "delete", objectType: `config/${type}`, objectName: name };
    if (deleted > 0) await addEvent(tx, { user: call.user, ...event });
    return deleted;
  });
  if (count > 0) return nothing();
  throw NoSuchConfig({ name: `${type}/${name}` });
});
