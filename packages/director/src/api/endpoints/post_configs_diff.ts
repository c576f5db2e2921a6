import type { Tree } from "@slipway/engine/documents/tree";
import { diffManifests } from "@slipway/engine/manifest/diff";
import { configComparison, type configSide } from "@slipway/protocol/director/config";
import { configDiff } from "@slipway/protocol/director/diff";
import type * as v from "valibot";
import { latestConfig } from "../../store/configs.ts";
import type { Db } from "../../store/schema.ts";
import { looseMap, yamlMap } from "../documents.ts";
import { BadConfigRequest } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { configOf } from "./get_configs_id.ts";

/** Two configs against each other, or new content against what is there. Always redacted. */
export const postConfigsDiff = endpoint(
  { body: configComparison, reply: configDiff },
  async (call, { db }) => {
    const { from, to, type, name, content } = await call.json();
    if (from !== undefined && to !== undefined) {
      const before = await sideOf(db, from, "from");
      return json({ diff: diffManifests(before, await sideOf(db, to, "to"), { redact: true }) });
    }
    if (!type || !name || content === undefined) {
      throw BadConfigRequest({ why: "give 'type', 'name' and 'content', or 'from' and 'to'" });
    }
    const latest = await latestConfig(db, type, name);
    const after = yamlMap(content, `the ${type} config`, 440011);
    return json({
      diff: diffManifests(looseMap(latest?.content), after, { redact: true }),
      from: { id: String(latest?.id ?? 0) },
    });
  },
);

type Side = v.InferOutput<typeof configSide>;

async function sideOf(db: Db, { id, content }: Side, name: string): Promise<Tree> {
  const known = String(id ?? "");
  if ((known === "") === !content) {
    throw BadConfigRequest({ why: `'${name}' of the comparison must have either an id or content` });
  }
  return known === ""
    ? yamlMap(content ?? "", `'${name}'`, 440011)
    : looseMap((await configOf(db, known)).content);
}
