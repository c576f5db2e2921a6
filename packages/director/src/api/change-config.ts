import { messageTrail } from "@slipway/kernel/errors";
import { type SavedConfig, saveConfig } from "../store/configs.ts";
import { addEvent } from "../store/events.ts";
import { inTransaction } from "../store/open.ts";
import type { Db } from "../store/schema.ts";
import { oneLine } from "../tasks/failure.ts";

export interface NewConfig {
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly expectedLatestId?: number | undefined;
}

interface ConfigEvent {
  readonly action: string;
  readonly objectType: string;
  readonly objectName: string;
}

/** A config that is refused is an event, too. */
export async function noteRefusal<T>(
  db: Db,
  user: string,
  event: ConfigEvent,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await addEvent(db, { user, ...event, error: oneLine(messageTrail(error)) });
    throw error;
  }
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
      await addEvent(tx, { user, ...event, objectName: config.name });
    }
    return saved;
  });
}
