import type { Clock } from "@slipway/kernel/clock";
import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import type { Agents } from "../agents/agent.ts";
import { type Hear, listener, tenths } from "../call-log/call-log.ts";
import type { Clouds } from "../clouds/cloud.ts";
import { heardAgents } from "./recording-agents.ts";
import { heardClouds } from "./recording-clouds.ts";

interface Doors {
  readonly clouds: Clouds;
  readonly agents: Agents;
}

/** The doors of one task. `about`: the same, when it is known for which instance is spoken. */
export interface HeardDoors extends Doors {
  readonly about: (instance: string) => Doors;
}

/** Doors through which everything that is said is written down. */
export function overhear(doors: Doors, clock: Clock, write: (line: ConversationLine) => void): HeardDoors {
  const hear = listener(clock, write);
  const heard = (by: Hear): Doors => ({
    clouds: heardClouds(doors.clouds, by),
    agents: heardAgents(doors.agents, by),
  });
  return { ...heard(hear), about: (instance) => heard((said) => hear({ ...said, instance })) };
}

/** Does the work of a task, and says at its end how long it took in all. */
export async function timed<T>(
  message: string,
  clock: Clock,
  write: (line: ConversationLine) => void,
  work: () => Promise<T>,
): Promise<T> {
  const at = clock.now();
  const began = clock.monotonic();
  try {
    return await work();
  } finally {
    write({ at, ms: tenths(clock.monotonic() - began), to: "director", message, request: [] });
  }
}
