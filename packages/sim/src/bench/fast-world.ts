import { type SimVm, SimWorld } from "../world/world.ts";

/** Finds VMs by their agents: the world must not be what a large deploy waits for. */
class VmsByAgent extends Map<string, SimVm> {
  readonly #byAgent = new Map<string, SimVm>();

  override set(cid: string, vm: SimVm): this {
    this.#byAgent.set(vm.agentId, vm);
    return super.set(cid, vm);
  }

  override delete(cid: string): boolean {
    const vm = this.get(cid);
    if (vm !== undefined) this.#byAgent.delete(vm.agentId);
    return super.delete(cid);
  }

  ofAgent(agentId: string): SimVm | undefined {
    return this.#byAgent.get(agentId);
  }
}

export class FastWorld extends SimWorld {
  override readonly vms = new VmsByAgent();

  override vmOfAgent(agentId: string): SimVm | undefined {
    return this.vms.ofAgent(agentId);
  }
}
