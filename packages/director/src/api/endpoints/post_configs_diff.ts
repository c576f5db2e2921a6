import { diffManifests } from "@slipway/engine/manifest/diff";
import type { Tree } from "@slipway/engine/manifest/tree";
import { DirectorError } from "@slipway/engine/model/director-error";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { latestConfig } from "../../store/configs.ts";
import type { Db } from "../../store/schema.ts";
import { jsonBody } from "../call.ts";
import { looseMap, yamlMap } from "../documents.ts";
import { json } from "../reply.ts";
import type { Handler } from "../route.ts";
import { configOf } from "./get_configs_id.ts";

/** One side: an id or content. The CLI sends both, and leaves one empty. */
const side = open({
  id: v.optional(v.nullable(v.union([v.string(), v.number()]))),
  content: v.optional(v.nullable(v.string())),
});
const body = open({
  from: v.optional(side),
  to: v.optional(side),
  type: v.optional(v.string()),
  name: v.optional(v.string()),
  content: v.optional(v.string()),
});

/** Two configs against each other, or new content against what is there. Always redacted. */
export const postConfigsDiff: Handler = async (call, { db }) => {
  const { from, to, type, name, content } = await jsonBody(call, body);
  if (from !== undefined && to !== undefined) {
    const before = await sideOf(db, from, "from");
    return json({ diff: diffManifests(before, await sideOf(db, to, "to"), { redact: true }) });
  }
  if (!type || !name || content === undefined) {
    throw new DirectorError(440010, "give 'type', 'name' and 'content', or 'from' and 'to'");
  }
  const latest = await latestConfig(db, type, name);
  const after = yamlMap(content, `the ${type} config`, 440011);
  return json({
    diff: diffManifests(looseMap(latest?.content), after, { redact: true }),
    from: { id: String(latest?.id ?? 0) },
  });
};

type Side = v.InferOutput<typeof side>;

async function sideOf(db: Db, { id, content }: Side, name: string): Promise<Tree> {
  const known = String(id ?? "");
  if ((known === "") === !content) {
    throw new DirectorError(440010, `'${name}' of the comparison must have either an id or content`);
  }
  return known === ""
    ? yamlMap(content ?? "", `'${name}'`, 440011)
    : looseMap((await configOf(db, known)).content);
}
