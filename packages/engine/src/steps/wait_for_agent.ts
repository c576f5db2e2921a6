import { messageTrail } from "@slipway/kernel/errors";
import { AgentSilent, WrongAgent } from "../agents/agent.ts";
import { refusedAs } from "../clouds/cloud.ts";
import { slug } from "../model/names.ts";
import type { InstanceRecord, VmRecord } from "../model/records.ts";
import { callAbout, optionsOf } from "./calls.ts";
import { cloudOf, type FlowContext } from "./context.ts";
import { rerunStep } from "./define.ts";
import { deathNotice, lastWords, pingWhileVmLives, VmDied } from "./ready-agent.ts";
import { currentVm } from "./select.ts";
import { vmOf } from "./words.ts";

interface Wait {
  readonly vm: VmRecord;
  readonly instance: InstanceRecord;
}

export const waitForAgent = rerunStep<Wait>({
  name: "wait_for_agent",
  subject: "vm",
  calls: ["agent ping"],
  status: "waiting for agent",
  line: (instance, { machine }) => `Waiting for the agent on ${machine} '${vmOf(instance)}' to be ready`,
  intent: ({ instance }) => {
    const vm = currentVm(instance);
    return vm === undefined || vm.ready ? undefined : { vm, instance };
  },
  run: async ({ vm, instance }, context) => {
    if (vm.agentUrl === "")
      throw new AgentSilent(
        "the CPI returned no address for any network of the VM, so its agent cannot be reached over HTTPS. Use a manual network, or a CPI that returns the addresses it gave, or reach agents over NATS, which needs no addresses (docs/nats.md): set agent.transport to nats in the Director's configuration, then deploy again.",
      );
    const started = context.clock.monotonic();
    try {
      await pingWhileVmLives(vm, context);
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof AgentSilent) && !(error instanceof WrongAgent)) throw error;
      const seconds = Math.round((context.clock.monotonic() - started) / 1000);
      if (error instanceof VmDied)
        throw new AgentSilent(
          `${await deathNotice(vm, error, started, context)}${afterwards(instance, context)}`,
        );
      const message = `Timed out pinging VM '${vm.cid}' with agent '${vm.agentId}' after ${seconds} seconds: ${await known(vm, context)}. ${error.message}${await lastWords(vm, context)}${afterwards(instance, context)}`;
      throw error instanceof WrongAgent
        ? new WrongAgent(message, { cause: error.cause })
        : new AgentSilent(message, { cause: error.cause });
    }
  },
});

/** Describes what becomes of the VM: it is deleted, or kept for the operator to inspect. Compilation VMs are never kept. */
function afterwards(instance: InstanceRecord, { deployment, settings }: FlowContext): string {
  if (settings.keepUnreachableVms === undefined || instance.compilation === true)
    return ". The VM is deleted";
  if (!settings.keepUnreachableVms)
    return ". The VM is deleted; with director.keep_unreachable_vms in the Director's configuration the next one stays, to be looked at";
  const more =
    instance.spec === null
      ? ""
      : `, and so do \`bosh -d ${deployment} recreate ${slug(instance)}\` and \`bosh -d ${deployment} cck\``;
  return `. The VM is kept (director.keep_unreachable_vms): a deploy waits for it again, \`bosh -d ${deployment} deploy --recreate\` or \`--fix\` replaces it${more}`;
}

/** Describes what is known of a VM whose agent is silent, without access to the VM. */
async function known(vm: VmRecord, context: FlowContext): Promise<string> {
  const { certificateUntil: until } = vm;
  const over = until !== null && until <= context.clock.now();
  const certificate =
    until === null
      ? ""
      : `, its certificate ${over ? "has ended" : "lasts until"} ${new Date(until).toISOString().slice(0, 10)}`;
  return `${await inCloud(vm, context)}, its agent should listen at ${vm.agentUrl}${certificate}, and it has never been ready since the VM was created`;
}

async function inCloud(vm: VmRecord, context: FlowContext): Promise<string> {
  try {
    const there = await cloudOf(context, vm.cpi).hasVm(vm.cid, optionsOf(callAbout(vm, context), context));
    return there ? "the cloud has the VM" : "the cloud does not have the VM any more";
  } catch (error) {
    context.signal.throwIfAborted();
    if (refusedAs(error, "NotImplemented", "NotSupported")) return "the CPI cannot say whether the VM runs";
    return `the CPI could not say whether the VM runs (${messageTrail(error)})`;
  }
}
