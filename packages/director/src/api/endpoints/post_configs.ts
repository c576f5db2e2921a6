import { DirectorError } from "@slipway/engine/model/director-error";
import { open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { jsonBody } from "../call.ts";
import { changeConfig } from "../change-config.ts";
import { checkConfigContent } from "../config-content.ts";
import { configWire } from "../config-wire.ts";
import { json } from "../reply.ts";
import type { Handler } from "../route.ts";

const body = open({
  type: text("type"),
  name: text("name"),
  content: v.string(),
  expected_latest_id: v.optional(v.nullable(v.union([v.string(), v.number()]))),
});

export const postConfigs: Handler = async (call, { db }) => {
  const { type, name, content, expected_latest_id: expected } = await jsonBody(call, body);
  checkConfigContent(type, content, 440011);
  const saved = await changeConfig(
    db,
    call.user,
    { type, name, content, expectedLatestId: latestId(expected) },
    { action: "create", objectType: `config/${type}` },
  );
  if (saved.ok) return json(configWire(saved.config), 201);
  const latest = String(saved.latestId);
  return json(
    {
      latest_id: latest,
      expected_latest_id: String(expected),
      description: `the ${type} config '${name}' was changed meanwhile: its id is ${latest}, not ${expected}; look at the difference and try again`,
    },
    412,
  );
};

/** `0`: there is none yet. */
function latestId(expected: string | number | null | undefined): number | undefined {
  if (expected === undefined || expected === null || expected === "") return undefined;
  if (/^\d{1,15}$/.test(String(expected))) return Number(expected);
  throw new DirectorError(440010, "'expected_latest_id' must be the id of a config, or 0");
}
