import type { config as configSchema } from "@slipway/protocol/director/config";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import type { Documents } from "../documents/documents.ts";
import type { ConfigRecord } from "../store/configs.ts";
import type { Access } from "./permissions.ts";
import { utc } from "./times.ts";

/**
 * Returns the config as the caller may see it: the properties of CPIs are credentials of clouds, and only administrators see
 * them. All else that a config holds is for all users who may read.
 */
export async function configFor(
  { admin }: Pick<Access, "admin">,
  config: ConfigRecord,
  documents: Documents,
): Promise<ReplyOf<typeof configSchema>> {
  if (admin || config.type !== "cpi") return configWire(config);
  const content = await documents.ask("redacted", { text: config.content, what: "the cpi config" });
  return configWire({ ...config, content });
}

/** Returns the config as `bosh config` reads it: the id is a string. */
export const configWire = (config: ConfigRecord): ReplyOf<typeof configSchema> => ({
  id: String(config.id),
  type: config.type,
  name: config.name,
  team: config.team,
  created_at: utc(config.createdAt),
  content: config.content,
  current: config.current,
});
