import type { VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { AgentAddress } from "../agents/agent.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { currentVm } from "./select.ts";
import { firstSpec } from "./spec.ts";
import { vmOf } from "./words.ts";

interface Prepare {
  readonly vm: VmCid;
  readonly agent: AgentAddress;
  readonly networks: Networks;
  readonly spec: JsonObject;
}

interface Prepared {
  readonly networks: Networks;
  readonly agentUrl: string;
}

/** Settings and the first apply; the agent's answer completes what is known of its networks. */
export const prepareAgent = rerunStep<Prepare, Prepared>({
  name: "prepare_agent",
  subject: "vm",
  calls: ["agent update_settings", "agent apply", "agent get_state"],
  line: (instance, { machine }) => `Preparing the agent on ${machine} '${vmOf(instance)}'`,
  intent: (subject, context) => {
    const vm = currentVm(subject.instance);
    if (vm === undefined || vm.ready) return undefined;
    return {
      vm: vm.cid,
      agent: addressOf(vm),
      networks: vm.networks,
      spec: firstSpec(subject, context.deployment),
    };
  },
  run: async ({ agent: address, networks, spec }, context) => {
    const agent = agentOf(context, address);
    const ask = { signal: context.signal };
    await agent.updateSettings({ trusted_certs: "", disk_associations: [] }, ask);
    await agent.waitUntilReady({ ...ask, withinMs: context.settings.agentWaitMs });
    await agent.apply(spec, ask);
    const state = await agent.getState(false, ask);
    const learned = withLearned(networks, state.networks);
    return { networks: learned, agentUrl: context.agents.urlFor(learned) ?? address.agentUrl };
  },
  record: ({ vm }, { networks, agentUrl }, writes) =>
    writes.updateVm(vm, { networks, agentUrl, ready: true }),
});

/** Addresses of dynamic networks come from the agent; what was planned stays. */
function withLearned(known: Networks, reported: Networks): Networks {
  return Object.fromEntries(
    Object.entries(known).map(([name, network]) => {
      const seen = Object.hasOwn(reported, name) ? reported[name] : undefined;
      if (network.type !== "dynamic" || seen === undefined) return [name, network];
      const learned = {
        ...(seen.ip !== undefined && { ip: seen.ip }),
        ...(seen.netmask !== undefined && { netmask: seen.netmask }),
        ...(seen.gateway !== undefined && { gateway: seen.gateway }),
      };
      return [name, { ...network, ...learned }];
    }),
  );
}
