import type { NatsAuthorities, Rotates } from "@slipway/director/nats/rotation";
import { type AuthoritiesOfNats, natsAuthorities } from "@slipway/director/store/nats-authorities";
import type { Db } from "@slipway/director/store/schema";
import { BUS, type SimTrust } from "../world/bus.ts";
import type { AskSim } from "../world/sim-agents.ts";

export interface SimNats extends NatsAuthorities {
  readonly own: Rotates;
  trust(): SimTrust;
}

/** The bus of the world as its Director keeps it: told at every start, and whenever an authority takes over. */
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
