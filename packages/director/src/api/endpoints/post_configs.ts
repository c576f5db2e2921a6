import { config, newConfig } from "@slipway/protocol/director/config";
import { changeConfig, demandConfig, noteRefusal } from "../change-config.ts";
import { checkConfigContent } from "../config-content.ts";
import { configWire } from "../config-wire.ts";
import { BadConfigRequest } from "../refusals.ts";
import { json, refusal } from "../reply.ts";
import { endpoint } from "../route.ts";

export const postConfigs = endpoint({ body: newConfig, reply: config }, async (call, services) => {
  const { type, name, content, expected_latest_id: expected } = await call.json();
  demandConfig(call.access, type, undefined);
  const event = { action: "create", objectType: `config/${type}` };
  await noteRefusal(services.db, call.user, { ...event, objectName: name }, () =>
    checkConfigContent(services, { type, name, content, number: 440011 }),
  );
  const saved = await changeConfig(
    services.db,
    call,
    { type, name, content, expectedLatestId: latestId(expected) },
    event,
  );
  if (saved.ok) return json(configWire(saved.config), 201);
  const latest = String(saved.latestId);
  return refusal(
    {
      latest_id: latest,
      expected_latest_id: String(expected),
      description: `the ${type} config '${name}' was changed meanwhile: its id is ${latest}, not ${expected}; look at the difference and try again`,
    },
    412,
  );
});

/** Reads the expected id; `0` means that the config does not exist yet. */
function latestId(expected: string | number | null | undefined): number | undefined {
  if (expected === undefined || expected === null || expected === "") return undefined;
  if (/^\d{1,15}$/.test(String(expected))) return Number(expected);
  throw BadConfigRequest({ why: "'expected_latest_id' must be the id of a config, or 0" });
}
