import { messageTrail } from "@slipway/kernel/errors";
import { CommandFailed } from "@slipway/kernel/exec";
import type { LayoutPlatform } from "../../platform.ts";
import type { DiskContext } from "../disks/context.ts";
import { systemNodes } from "../disks/device-nodes.ts";
import { setUpMemory } from "./memory.ts";
import { setUpSystemDirectories, startLogging } from "./system-directories.ts";
import { setUpTemporary } from "./temporary.ts";

export function linuxLayout(tools: Omit<DiskContext, "nodes">): LayoutPlatform {
  const context: DiskContext = { ...tools, nodes: systemNodes };
  return {
    systemDirectories: () => wherePossible(context, setUpSystemDirectories(context)),
    startLogging: () => startLogging(context),
    memory: async (request) => {
      const work = setUpMemory(context, request);
      // What must not touch a disk must be in memory, or not be at all.
      await (request.jobs || request.settings ? work : wherePossible(context, work));
    },
    temporary: () => wherePossible(context, setUpTemporary(context)),
  };
}

/** Containers whose disks are set up by others may not be allowed to mount; they are as useful without it. */
async function wherePossible({ config, log }: DiskContext, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!config.SkipDiskSetup || !CommandFailed.is(error)) throw error;
    log.warn(`directories stay where they are: ${messageTrail(error)}`);
  }
}
