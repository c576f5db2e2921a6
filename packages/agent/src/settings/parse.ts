import { BadJson, parseStrictJson } from "@slipway/kernel/strict-json";
import { type AgentSettings, checkAgentSettings } from "@slipway/protocol/settings/agent-settings";
import { parseUserData, readUserData, type UserData } from "@slipway/protocol/settings/user-data";
import { SettingsInvalid } from "./errors.ts";

/** What a source served: complete settings, or the way to a registry. Nothing of it is quoted in the error. */
export function parseDocument(text: string, source: string): UserData {
  const plain = /^\s*[{[]/.test(text);
  const parsed = plain ? readUserData(strict(text, source)) : parseUserData(text);
  if (!parsed.ok) throw SettingsInvalid({ source, problems: parsed.problems });
  // Base64 was decoded by a parser that lets a key stand twice.
  if (!plain) strict(Buffer.from(text.replaceAll('"', "").trim(), "base64url").toString("utf8"), source);
  return parsed.userData;
}

/** Settings that must be complete: those of a registry, and those on disk. */
export function parseSettings(text: string, source: string): AgentSettings {
  const checked = checkAgentSettings(strict(text, source));
  if (!checked.ok) throw SettingsInvalid({ source, problems: checked.problems });
  return checked.value;
}

function strict(text: string, source: string): unknown {
  try {
    return parseStrictJson(text, source);
  } catch (error) {
    if (!BadJson.is(error)) throw error;
    throw SettingsInvalid({ source, problems: [error.message] });
  }
}
