import { typedConfig, typedConfigQuery, typedConfigsQuery } from "@slipway/protocol/director/config";
import { configDiff, typedConfigDiffQuery } from "@slipway/protocol/director/diff";
import * as v from "valibot";
import { latestConfig, listConfigs } from "../../store/configs.ts";
import { type QueryOf, queryInt, queryString } from "../call.ts";
import { changeConfig, noteRefusal } from "../change-config.ts";
import { checkConfigContent, checkCpiVariables } from "../config-content.ts";
import { difference } from "../documents.ts";
import { BadParameter } from "../refusals.ts";
import { json, nothing } from "../reply.ts";
import { endpoint } from "../route.ts";
import { utc } from "../times.ts";

/** `/cloud_configs`, `/runtime_configs`, `/cpi_configs`: configs of one type, by an older form. */
type Type = "cloud" | "runtime" | "cpi";

const nameOf = (query: QueryOf<{ query: typeof typedConfigQuery }>) =>
  queryString(query, "name") ?? "default";

export const getTypedConfigs = (type: Type) =>
  endpoint({ query: typedConfigsQuery, reply: v.array(typedConfig) }, async ({ query }, { db }) => {
    const limit = queryInt(query, "limit", 1) ?? 1;
    const configs = await listConfigs(db, { type, name: nameOf(query), limit });
    return json(
      configs.map(({ name, content, createdAt }) => ({
        name,
        properties: content,
        created_at: utc(createdAt),
      })),
    );
  });

export const postTypedConfigs = (type: Type) =>
  endpoint({ query: typedConfigQuery }, async (call, services) => {
    const content = await call.text();
    const name = nameOf(call.query);
    if (name.length > 255) throw BadParameter({ name: "name", expected: "at most 255 characters long" });
    const event = { action: "update", objectType: `${type}-config` };
    await noteRefusal(services.db, call.user, { ...event, objectName: name }, async () => {
      await checkConfigContent(services, { type, name, content, number: 440001 });
      if (type === "cpi") await checkCpiVariables(services, { name, content });
    });
    await changeConfig(services.db, call, { type, name, content }, event);
    return nothing(201);
  });

export const postTypedConfigsDiff = (type: Type) =>
  endpoint({ query: typedConfigDiffQuery, reply: configDiff }, async (call, { db, documents }) => {
    const main = { text: await call.text(), what: `the ${type} config` };
    const latest = await latestConfig(db, type, nameOf(call.query));
    const redact = type !== "cloud" && queryString(call.query, "redact") !== "false";
    const before = { main: { text: latest?.content, loose: true as const } };
    return difference(documents, { before, after: { main }, redact, number: 440001 }, {});
  });
