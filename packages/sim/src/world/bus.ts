import type { SimAnswer } from "./sim-agent.ts";
import type { SimVm, SimWorld } from "./world.ts";

/** Name of the bus itself, in the place of an agent's. */
export const BUS = "bus";

/** Authorities that an agent trusts, and the one that signed its certificate. */
export interface SimTrust {
  readonly believes: readonly string[];
  readonly signer: string;
}

/** The server of the bus: what it shows is signed by one authority, and it lets in whom some have signed for. */
export interface SimBus {
  readonly shows: string;
  readonly believes: readonly string[];
}

/** Heartbeat of an agent on the bus. */
export interface SimHeartbeat {
  readonly agentId: string;
  readonly job_state: string;
}

/** Returns the trust in a VM's settings. Undefined if the agent is not on the bus. */
export function trustIn(settings: unknown): SimTrust | undefined {
  const { mbus } = (settings ?? {}) as { readonly mbus?: { readonly cert?: { readonly trust?: SimTrust } } };
  return mbus?.cert?.trust;
}

export function isCutOff({ bus }: SimWorld, { agent: { trust } }: SimVm): boolean {
  return trust !== undefined && !(trust.believes.includes(bus.shows) && bus.believes.includes(trust.signer));
}

/** Applies a message of the Director to the bus. Agents on the bus must stay connected. */
export function askBus(world: SimWorld, method: string, [given]: readonly unknown[]): SimAnswer {
  if (method === "make_authority") {
    world.authorities.add(String(given));
    return { value: null };
  }
  if (method === "heartbeats") return { value: heartbeatsIn(world) };
  world.bus = given as SimBus;
  for (const one of [world.bus.shows, ...world.bus.believes])
    if (!world.authorities.has(one)) world.violate(`authority ${one} is used and was not made`);
  for (const vm of world.vms.values())
    if (isCutOff(world, vm)) world.violate(`agent ${vm.agentId} was cut off from the bus`);
  return { value: null };
}

const heartbeatsIn = (world: SimWorld): readonly SimHeartbeat[] =>
  [...world.vms.values()]
    .filter((vm) => vm.agent.trust !== undefined && !world.deaf.has(vm.agentId) && !isCutOff(world, vm))
    .map(({ agentId, agent }) => ({ agentId, job_state: agent.running ? "running" : "stopped" }));
