import type { AgentAddress, GivenCertificate } from "../agents/agent.ts";
import { activeVm, type VmRecord } from "../model/records.ts";
import { addressOf, settingsOfAgent } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { readyAgent } from "./ready-agent.ts";
import { linkedDisks } from "./select.ts";

interface Renewal {
  readonly vm: VmRecord;
  readonly agent: AgentAddress;
  readonly ips: readonly string[];
  readonly linked: ReturnType<typeof linkedDisks>;
}

/** The agent restarts with it; trusted certificates and disk associations are cleared by what does not name them. */
export const renewCertificate = rerunStep<Renewal, GivenCertificate>({
  name: "renew_certificate",
  subject: "vm",
  calls: ["agent update_settings", "agent ping"],
  intent: ({ instance }) => {
    const vm = activeVm(instance);
    if (vm === undefined) return undefined;
    const ips = Object.values(vm.networks).flatMap(({ ip, type }) =>
      ip === undefined || type === "vip" ? [] : [ip],
    );
    return { vm, agent: addressOf(vm), ips, linked: linkedDisks(instance, vm) };
  },
  run: async ({ vm, agent: address, ips, linked }, context) => {
    const { settings, ...given } = await context.agents.renewal({ ...address, ips });
    const agent = agentOf(context, address);
    const ask = { signal: context.signal };
    await agent.updateSettings({ ...settingsOfAgent(linked, context.settings), ...settings }, ask);
    await readyAgent(vm, context);
    return given;
  },
  record: ({ vm }, given, writes) => writes.updateVm(vm.cid, given),
});
