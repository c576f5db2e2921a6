import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { InstanceGroup } from "./model.ts";

/** `use_tmpfs_config` in the env of a group, where that does not say it itself. */
export function withTmpfs(group: InstanceGroup, tmpfs: boolean | undefined): InstanceGroup {
  if (tmpfs === undefined) return group;
  const bosh = mapAt(group.env, "bosh");
  const agent = mapAt(bosh, "agent");
  const env = {
    ...group.env,
    bosh: {
      ...bosh,
      job_dir: { tmpfs, ...mapAt(bosh, "job_dir") },
      agent: { ...agent, settings: { tmpfs, ...mapAt(agent, "settings") } },
    },
  };
  return { ...group, env };
}

const mapAt = (map: JsonObject, key: string): JsonObject => {
  const found = map[key];
  return isObject(found) ? (found as JsonObject) : {};
};
