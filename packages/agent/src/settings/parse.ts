import { BadJson, parseStrictJson } from "@slipway/kernel/strict-json";
import { isObject } from "@slipway/protocol/schema/json";
import { type AgentSettings, checkAgentSettings } from "@slipway/protocol/settings/agent-settings";
import { NOT_JSON, readUserData, type UserData, userDataJson } from "@slipway/protocol/settings/user-data";
import { SettingsInvalid } from "./errors.ts";

/** Parses the document of a source: complete settings, or the address of a registry. Errors quote nothing of it. */
export function parseDocument(text: string, source: string): UserData {
  const plain = /^\s*[{[]/.test(text);
  const json = plain ? text : userDataJson(text);
  // Read again, strictly: the decoder lets a key stand twice.
  const parsed = json === undefined ? NOT_JSON : readUserData(withSystemPath(strict(json, source)));
  if (!parsed.ok) throw SettingsInvalid({ source, problems: parsed.problems });
  return parsed.userData;
}

/** Settings that must be complete: those of a registry, and those on disk. */
export function parseSettings(text: string, source: string): AgentSettings {
  const checked = checkAgentSettings(withSystemPath(strict(text, source)));
  if (!checked.ok) throw SettingsInvalid({ source, problems: checked.problems });
  return checked.value;
}

/** The first design's sample has `"system": {"path": "/dev/sda1"}` where everybody else has the path itself. */
function withSystemPath(value: unknown): unknown {
  if (!isObject(value) || !isObject(value.disks) || !isObject(value.disks.system)) return value;
  const { path } = value.disks.system;
  return typeof path === "string" ? { ...value, disks: { ...value.disks, system: path } } : value;
}

function strict(text: string, source: string): unknown {
  try {
    return parseStrictJson(text, source);
  } catch (error) {
    if (!BadJson.is(error)) throw error;
    throw SettingsInvalid({ source, problems: [error.message] });
  }
}
