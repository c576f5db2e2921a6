import { type SavedConfig, saveConfig } from "../store/configs.ts";
import { addEvent } from "../store/events.ts";
import { inTransaction } from "../store/open.ts";
import type { Db } from "../store/schema.ts";

export interface NewConfig {
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly expectedLatestId?: number | undefined;
}

/** Stores a config, and its entry in the events if there is something new. */
export function changeConfig(
  db: Db,
  user: string,
  config: NewConfig,
  event: { readonly action: string; readonly objectType: string },
): Promise<SavedConfig> {
  return inTransaction(db, async (tx) => {
    const saved = await saveConfig(tx, config);
    if (saved.ok && saved.created) {
      const context = { id: String(saved.config.id) };
      await addEvent(tx, { user, ...event, objectName: config.name, context });
    }
    return saved;
  });
}
