import { directorsRequest } from "@slipway/protocol/agent/envelope";
import type { AgentId } from "@slipway/protocol/ids";
import { AgentRefused } from "../agent.ts";
import { readReply } from "../reply.ts";
import type { AgentTransport, Delivery } from "../transport.ts";
import type { Phase, TransportFailure } from "../transport-failure.ts";
import type { AgentBlobs } from "./agent-blobs.ts";
import type { NatsBus } from "./bus.ts";
import { NoBlobsOverNats } from "./errors.ts";
import type { BusReply } from "./waiters.ts";

export interface NatsTools {
  readonly bus: Pick<NatsBus, "request" | "description">;
  /** Blobs that agents download and upload; NATS carries none. */
  readonly blobs?: AgentBlobs | undefined;
}

/** Messages to one agent over the bus that all share. */
export function natsTransport(agentId: AgentId, { bus, blobs }: NatsTools): AgentTransport {
  const name = `agent ${agentId} over NATS at ${bus.description}`;
  const depot = (): AgentBlobs => {
    if (blobs === undefined) throw NoBlobsOverNats({ agentId });
    return blobs;
  };
  return {
    name,
    send: async ({ method, arguments: args, harmless = false }, withinMs, signal): Promise<Delivery> => {
      const body = (replyTo: string) => JSON.stringify(directorsRequest(method, args, replyTo));
      const outcome = await bus.request({ agentId, body, withinMs, signal, harmless });
      if (outcome.kind === "answer") return readReply(outcome.text);
      if (outcome.kind === "too-large")
        throw new AgentRefused(
          `${name} was not asked ${method}: the message has ${outcome.bytes} bytes, and the NATS server takes ${outcome.limit}; raise max_payload of the server`,
        );
      return undelivered(outcome, bus.description);
    },
    putBlob: (id, content, _, signal) => depot().put(agentId, id, content, signal),
    getBlob: (id, take, _, signal) => depot().get(agentId, id, take, signal),
    removeBlob: (id) => depot().remove(agentId, id),
    // The connection is everybody's.
    close: () => undefined,
  };
}

const LOOK_AT_AGENT =
  "see that the VM runs and that its network leads to the NATS server; look at its console and at the agent's log in it (/var/vcap/bosh/log/current), then deploy again or recreate the VM";

type Undelivered = Exclude<BusReply, { readonly kind: "answer" | "too-large" }>;

function undelivered(outcome: Undelivered, server: string): Delivery {
  const failure = (
    kind: TransportFailure["kind"],
    phase: Phase,
    what: string,
    next: string,
    late = false,
  ): Delivery => ({
    kind: "failed",
    failure: { kind, phase, what, next },
    late,
  });
  switch (outcome.kind) {
    case "unconnected":
      return failure(
        "unreached",
        "connecting",
        `the Director has no connection to NATS at ${server}: ${outcome.why}`,
        "see that the NATS server runs, and that it knows the Director's certificate",
      );
    case "nobody":
      return failure(
        "unreached",
        "connecting",
        "no agent of this id is connected to NATS",
        `wait for the agent to connect, or ${LOOK_AT_AGENT}`,
      );
    case "forbidden":
      return failure(
        "unreached",
        "connecting",
        "the NATS server does not let the Director send messages to it",
        "allow the Director's user to publish to agent.* in the server's permissions",
      );
    case "lost":
      return failure("lost", "sent", "the connection to NATS was lost before an answer", LOOK_AT_AGENT);
    case "late":
      return failure(
        "lost",
        "sent",
        "the message was sent over NATS, but no answer came",
        `the agent is busy or hangs: ${LOOK_AT_AGENT}`,
        true,
      );
  }
}
