import { readFile } from "node:fs/promises";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { systemClock } from "@slipway/kernel/clock";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type DirectorConfig, directorConfig } from "@slipway/protocol/director/config-file";
import { check } from "@slipway/protocol/schema/check";
import { configProblems } from "./config-problems.ts";
import { ConfigMissing, ConfigUnreadable } from "./errors.ts";

/** Number of problems that are shown, so that the operator corrects the file once. */
const ALL = 100;

/** The configuration of a file, YAML by its name or else JSON; without one everything has its default. */
export async function readConfig(path: string | undefined): Promise<DirectorConfig> {
  if (path === undefined) return {};
  let document: unknown;
  try {
    const text = await readFile(path, "utf8");
    document = /\.ya?ml$/i.test(path) ? parseYaml(text, path) : parseStrictJson(text, path);
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") throw ConfigMissing({ path }, { cause });
    throw ConfigUnreadable({ path, problems: messageTrail(cause) });
  }
  const checked = check(directorConfig, document, "config", ALL);
  const problems = checked.ok ? await configProblems(checked.value, systemClock.now()) : checked.problems;
  if (!checked.ok || problems.length > 0) throw ConfigUnreadable({ path, problems: problems.join("; ") });
  return checked.value;
}
