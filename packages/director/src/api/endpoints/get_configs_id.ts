import { config } from "@slipway/protocol/director/config";
import { type ConfigRecord, findConfigs } from "../../store/configs.ts";
import type { Db } from "../../store/schema.ts";
import { param } from "../call.ts";
import { configFor } from "../config-wire.ts";
import { NoSuchConfig } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getConfigsId = endpoint({ reply: config }, async (call, { db, documents }) =>
  json(await configFor(call.access, await configOf(db, param(call, "id")), documents)),
);

/** The config of an id, or error 440012. */
export async function configOf(db: Db, id: string): Promise<ConfigRecord> {
  const found = /^\d{1,15}$/.test(id) ? (await findConfigs(db, [Number(id)]))[0] : undefined;
  if (found !== undefined) return found;
  throw NoSuchConfig({ name: id });
}
