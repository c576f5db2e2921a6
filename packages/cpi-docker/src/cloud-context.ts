import { type Clock, systemClock } from "@slipway/kernel/clock";
import type { DockerConfig } from "./config.ts";
import { addressOf } from "./engine/address.ts";
import { Engine } from "./engine/engine.ts";

/** An engine and what of it is ours. Everything is kept there, nothing in memory. */
export interface DockerCloudContext {
  readonly engine: Engine;
  readonly config: DockerConfig;
  readonly clock: Clock;
}

export async function openCloud({
  config,
  signal,
}: {
  readonly config: DockerConfig;
  readonly signal?: AbortSignal;
}): Promise<DockerCloudContext> {
  return { engine: await Engine.open(addressOf(config), signal), config, clock: systemClock };
}

/** Returns the cloud for work that must be done although the call was aborted. */
export const unstoppable = (cloud: DockerCloudContext): DockerCloudContext => ({
  ...cloud,
  engine: cloud.engine.withoutSignal(),
});

/** Our cids are plain. Any other cannot be one of ours, and must not become a part of a path or a name. */
export const isPlain = (cid: string): boolean => /^[a-zA-Z0-9][\w-]{0,119}$/.test(cid);
