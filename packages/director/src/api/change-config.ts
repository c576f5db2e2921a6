import { messageTrail } from "@slipway/kernel/errors";
import { type ConfigRecord, type SavedConfig, saveConfig } from "../store/configs.ts";
import { addEvent } from "../store/events.ts";
import { inTransaction } from "../store/open.ts";
import type { Db } from "../store/schema.ts";
import { oneLine } from "../tasks/failure.ts";
import type { Call } from "./call.ts";
import { type Access, requireAccess } from "./permissions.ts";

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

export const teamsOf = ({ team }: Pick<ConfigRecord, "team">): readonly string[] =>
  team === null ? [] : [team];

/** Types that name programs the Director runs: not for teams, who would run them for all teams. */
const FOR_ADMINS = ["cpi"];

/** Throws unless the user may change the config; undefined stands for a new one. */
export function demandConfig(
  access: Access,
  type: string,
  config: Pick<ConfigRecord, "team"> | undefined,
): void {
  if (FOR_ADMINS.includes(type)) requireAccess(access, "admin", []);
  if (config !== undefined) requireAccess(access, "admin", teamsOf(config));
}

/** Stores a config, and its entry in the events if there is something new. A new one is the first team's of its author. */
export async function changeConfig(
  db: Db,
  { user, access }: Pick<Call, "user" | "access">,
  config: NewConfig,
  event: { readonly action: string; readonly objectType: string },
): Promise<SavedConfig> {
  demandConfig(access, config.type, undefined);
  return await inTransaction(db, async (tx) => {
    const mayChange = (latest: ConfigRecord) => demandConfig(access, config.type, latest);
    const saved = await saveConfig(tx, { ...config, team: access.adminOf[0], mayChange });
    if (saved.ok && saved.created) {
      await addEvent(tx, { user, ...event, objectName: config.name });
    }
    return saved;
  });
}
