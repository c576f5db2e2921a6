import { own, type Tree } from "@slipway/engine/documents/tree";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { toError } from "@slipway/kernel/errors";
import { isObject } from "@slipway/protocol/schema/json";

/** A config of the type `deploy`: switches that an operator has set for everybody's deploys. */
export interface DeployConfig {
  readonly name: string;
  readonly content: string;
}

export interface DeployFlags {
  /** Names of the options. */
  readonly flags: ReadonlySet<string>;
  /** Messages to the user about the flags. */
  readonly notes: readonly string[];
}

const KNOWN = ["fix", "fix-releases", "recreate", "recreate-persistent-disks", "skip-upload-releases"];

/** Returns the flags for this deployment. A config that cannot be read is noted, and does not stop a deploy. */
export function deployFlags(configs: readonly DeployConfig[], deployment: string): DeployFlags {
  const flags = new Set<string>();
  const notes: string[] = [];
  for (const { name, content } of configs) {
    const found = readConfig(name, content, notes);
    if (found === undefined) continue;
    const [include, exclude] = [namesIn(found, "include"), namesIn(found, "exclude")];
    if (include !== undefined && exclude !== undefined) {
      notes.push(
        `Ignoring deployment flags from config of type 'deploy' (name: '${name}'). Please use only 'include'- OR 'exclude'-property in the config.`,
      );
      continue;
    }
    if (include?.includes(deployment) === false || exclude?.includes(deployment) === true) continue;
    notes.push(`Using deployment flags from config of type 'deploy' (name: '${name}')`);
    for (const flag of namesIn(found, "flags") ?? []) if (KNOWN.includes(flag)) flags.add(flag);
  }
  return { flags, notes };
}

function readConfig(name: string, content: string, notes: string[]): Tree | undefined {
  try {
    const found = parseYaml(content, `the deploy config '${name}'`);
    if (isObject(found)) return found;
    notes.push(`Ignoring the deploy config '${name}': it is no map.`);
  } catch (error) {
    notes.push(`Ignoring ${toError(error).message}`);
  }
  return undefined;
}

function namesIn(map: Tree, key: string): readonly string[] | undefined {
  const list = own(map, key);
  if (list === undefined || list === null) return undefined;
  return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
}
