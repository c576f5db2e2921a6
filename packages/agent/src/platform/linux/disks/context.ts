import type { Clock } from "@slipway/kernel/clock";
import type { Exec } from "@slipway/kernel/exec";
import type { LinuxConfig } from "@slipway/protocol/agent/agent-config";
import type { Log } from "../../../log.ts";
import type { Paths } from "../../../paths.ts";
import type { DeviceNodes } from "./device-nodes.ts";

/** Dependencies of the disk code. It uses nothing else. */
export interface DiskContext {
  readonly config: LinuxConfig;
  readonly paths: Paths;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodes: DeviceNodes;
}

/** A path out of a hint; hints are written for the VM's own root, which tests move. */
export function underRoot(context: DiskContext, path: string): string {
  return path.startsWith(context.paths.root) ? path : context.paths.system(path);
}
