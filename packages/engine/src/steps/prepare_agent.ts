import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import { transportOf } from "../agents/address.ts";
import type { AgentAddress, GivenCertificate } from "../agents/agent.ts";
import { needsRenewal } from "../agents/agents.ts";
import type { VmRecord } from "../model/records.ts";
import { addressOf, settingsOfAgent } from "./calls.ts";
import { agentOf, type FlowContext } from "./context.ts";
import { rerunStep } from "./define.ts";
import { readyAgent } from "./ready-agent.ts";
import { currentVm, linkedDisks } from "./select.ts";
import { firstSpec } from "./spec.ts";
import { vmOf } from "./words.ts";

interface Prepare {
  readonly vm: VmRecord;
  readonly agent: AgentAddress;
  readonly certificateUntil: number | null;
  readonly networks: Networks;
  readonly spec: JsonObject;
  readonly linked: ReturnType<typeof linkedDisks>;
}

interface Prepared extends Partial<GivenCertificate> {
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
      vm,
      agent: addressOf(vm),
      certificateUntil: vm.certificateUntil,
      networks: vm.networks,
      spec: firstSpec(subject, context.deployment),
      linked: linkedDisks(subject.instance, vm),
    };
  },
  run: async ({ vm, agent: address, certificateUntil, networks, spec, linked }, context) => {
    const agent = agentOf(context, address);
    const ask = { signal: context.signal };
    const { settings, ...given } = (await lastingCertificate(address, certificateUntil, context)) ?? {};
    await agent.updateSettings({ ...settingsOfAgent(linked, context.settings), ...settings }, ask);
    await readyAgent(vm, context);
    await agent.apply(spec, ask);
    const state = await agent.getState(false, ask);
    const learned = withLearned(networks, state.networks);
    const transport = transportOf(address.agentUrl);
    return {
      networks: learned,
      agentUrl: context.agents.urlFor(learned, transport) ?? address.agentUrl,
      ...given,
    };
  },
  record: ({ vm }, prepared, writes) => writes.updateVm(vm.cid, { ...prepared, ready: true }),
});

/** Over NATS, what the VM was made with is good for the first contact only, unless it lasts. */
async function lastingCertificate(address: AgentAddress, until: number | null, context: FlowContext) {
  if (transportOf(address.agentUrl) !== "nats") return undefined;
  if (until !== null && !needsRenewal(until, context.clock.now())) return undefined;
  return await context.agents.renewal({ ...address, ips: [] });
}

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
