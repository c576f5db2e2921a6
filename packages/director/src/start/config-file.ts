import { readFile } from "node:fs/promises";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type DirectorConfig, directorConfig } from "@slipway/protocol/director/config-file";
import { check } from "@slipway/protocol/schema/check";
import { ConfigMissing, ConfigUnreadable } from "./errors.ts";

/** The configuration of a file; without one everything has its default. */
export async function readConfig(path: string | undefined): Promise<DirectorConfig> {
  if (path === undefined) return {};
  let document: unknown;
  try {
    document = parseStrictJson(await readFile(path, "utf8"), path);
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") throw ConfigMissing({ path }, { cause });
    throw ConfigUnreadable({ path, problems: messageTrail(cause) });
  }
  const checked = check(directorConfig, document, "config");
  if (!checked.ok) throw ConfigUnreadable({ path, problems: checked.problems.join("; ") });
  return checked.value;
}
