import { deleteConfigs } from "../../store/configs.ts";
import { addEvent } from "../../store/events.ts";
import { inTransaction } from "../../store/open.ts";
import { param } from "../call.ts";
import { demandConfig } from "../change-config.ts";
import { NoSuchConfig } from "../refusals.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";
import { configOf } from "./get_configs_id.ts";

export const deleteConfigsId = endpoint({}, async (call, { db }) => {
  const config = await configOf(db, param(call, "id"));
  const { id, type, name } = config;
  demandConfig(call.access, type, config);
  const count = await inTransaction(db, async (tx) => {
    const deleted = await deleteConfigs(tx, { id });
    const event = { action: "delete", objectType: `config/${type}`, objectName: name };
    if (deleted > 0) await addEvent(tx, { user: call.user, ...event, context: { id: String(id) } });
    return deleted;
  });
  if (count > 0) return nothing();
  throw NoSuchConfig({ name: String(id) });
});
