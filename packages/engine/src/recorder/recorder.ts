import type { Clock } from "@slipway/kernel/clock";
import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import type { Agents } from "../agents/agent.ts";
import { type CallRecorder, callRecorder, tenths } from "../call-log/call-log.ts";
import type { Clouds } from "../clouds/cloud.ts";
import { recordingAgents } from "./recording-agents.ts";

interface Clients {
  readonly clouds: Clouds;
  readonly agents: Agents;
}

/** The recording clients of one task. `about`: the same clients for calls about one instance. */
export interface RecordingClients extends Clients {
  readonly about: (instance: string) => Clients;
}

/** The same clients; each call through them is written down. */
export function recordCalls(
  clients: Clients,
  clock: Clock,
  write: (line: ConversationLine) => void,
  /** Called for agents whose answers take long. */
  waits?: (message: string) => void,
): RecordingClients {
  const record = callRecorder(clock, write);
  const recording = (by: CallRecorder, instance?: string): Clients => ({
    clouds: { ...clients.clouds, cloud: (name) => clients.clouds.cloud(name).recordedBy(by) },
    agents: recordingAgents(
      clients.agents,
      by,
      waits && ((message) => waits(instance === undefined ? message : `${instance}: ${message}`)),
    ),
  });
  const about = (instance: string) => recording((call) => record({ ...call, instance }), instance);
  return { ...recording(record), about };
}

/** Does the work of a task, and writes at its end how long the task took. */
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
