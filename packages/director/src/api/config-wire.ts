import type { config as configSchema } from "@slipway/protocol/director/config";
import type { Told } from "@slipway/protocol/schema/told";
import type { ConfigRecord } from "../store/configs.ts";
import { utc } from "./times.ts";

/** As `bosh config` reads it: the id is a string. */
export const configWire = (config: ConfigRecord): Told<typeof configSchema> => ({
  id: String(config.id),
  type: config.type,
  name: config.name,
  team: config.team,
  created_at: utc(config.createdAt),
  content: config.content,
  current: config.current,
});
