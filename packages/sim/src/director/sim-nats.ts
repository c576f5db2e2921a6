import type { Channel } from "@slipway/director/health/hearing";
import type { NatsAuthorities, Rotates } from "@slipway/director/nats/rotation";
import { type AuthoritiesOfNats, natsAuthorities } from "@slipway/director/store/nats-authorities";
import type { Db } from "@slipway/director/store/schema";
import type { Clock } from "@slipway/kernel/clock";
import { heartbeatSubject } from "@slipway/protocol/agent/subjects";
import { BUS, type SimHeartbeat, type SimTrust } from "../world/bus.ts";
import type { AskSim } from "../world/sim-agents.ts";

export interface SimNats extends NatsAuthorities {
  readonly own: Rotates;
  trust(): SimTrust;
}

/** The bus of the world as its Director keeps it: set at every start, and whenever an authority takes over. */
export async function openSimNats(db: Db, ask: AskSim): Promise<SimNats> {
  let state: AuthoritiesOfNats = { current: "" };
  const believed = () => [state.current, ...(state.next === undefined ? [] : [state.next])];
  const trust = (): SimTrust => ({ believes: believed(), signer: state.next ?? state.current });
  const now = () => ({ mark: JSON.stringify(trust()), next: state.next });
  const own: Rotates = {
    now,
    endsSoon: () => false,
    prepare: async (id) => void (await ask(BUS, "make_authority", [id])),
    takeUp: async () => {
      state = await natsAuthorities(db);
      await ask(BUS, "use", [{ shows: state.current, believes: believed() }]);
    },
  };
  await own.takeUp();
  return { own, now, trust };
}

const BEAT_MS = 20;

/** Returns a channel with the heartbeats of agents on the bus, which end at `signal`. */
export function simChannel(ask: AskSim, clock: Clock, signal: AbortSignal): Channel {
  const hear = async (take: (subject: string, data: Uint8Array) => void): Promise<void> => {
    while (!signal.aborted) {
      const answer = await ask(BUS, "heartbeats", []);
      if ("value" in answer)
        for (const { agentId, ...said } of answer.value as readonly SimHeartbeat[])
          take(heartbeatSubject(agentId), Buffer.from(JSON.stringify(said)));
      await clock.sleep(BEAT_MS, signal).catch(() => undefined);
    }
  };
  return { connected: true, connections: 1, listen: (_, take) => void hear(take) };
}
