import { messageTrail } from "@slipway/kernel/errors";
import { saysOff, VM_IS_OFF } from "@slipway/protocol/cpi/methods/get_vm_log";
import { AgentSilent, WrongAgent } from "../agents/agent.ts";
import { refusedAs } from "../clouds/cloud.ts";
import { slug } from "../model/names.ts";
import type { InstanceRecord, VmRecord } from "../model/records.ts";
import { callAbout, optionsOf } from "./calls.ts";
import { agentOf, cloudOf, type FlowContext } from "./context.ts";
import { rerunStep } from "./define.ts";
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
      const { agentId, agentUrl } = vm;
      await whileVmLives(vm, context, (signal) =>
        agentOf(context, { agentId, agentUrl }).waitUntilReady({
          withinMs: context.settings.agentWaitMs,
          signal,
        }),
      );
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof AgentSilent) && !(error instanceof WrongAgent)) throw error;
      const seconds = Math.round((context.clock.monotonic() - started) / 1000);
      if (error instanceof VmDied)
        throw new AgentSilent(
          `VM '${vm.cid}' died while its agent '${vm.agentId}' was awaited, after ${seconds} seconds: ${error.message}${await lastWords(vm, context)}${afterwards(instance, context)}`,
        );
      const message = `Timed out pinging VM '${vm.cid}' with agent '${vm.agentId}' after ${seconds} seconds: ${await known(vm, context)}. ${error.message}${await lastWords(vm, context)}${afterwards(instance, context)}`;
      throw error instanceof WrongAgent
        ? new WrongAgent(message, { cause: error.cause })
        : new AgentSilent(message, { cause: error.cause });
    }
  },
});

class VmDied extends AgentSilent {}

const ASK_EVERY_MS = 20_000;
/** A cloud may not show a VM at once that it has just made, and a VM that restarts is off for a moment. */
const SURE_AFTER = 2;

/** Ends `wait` with the reason once the CPI says repeatedly that the VM is gone or off. */
async function whileVmLives(
  vm: VmRecord,
  context: FlowContext,
  wait: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const died = new AbortController();
  const asked = { ...context, signal: AbortSignal.any([context.signal, over.signal]) };
  // It ends with the wait, and what goes wrong with the questions does not matter: the wait goes on.
  void deathOf(vm, asked).then(
    (why) => died.abort(new VmDied(why)),
    () => undefined,
  );
  try {
    await wait(AbortSignal.any([context.signal, died.signal]));
  } catch (error) {
    throw died.signal.aborted ? died.signal.reason : error;
  } finally {
    over.abort();
  }
}

/** Asks until the VM is dead. Rejects when the signal of the context is aborted. */
async function deathOf(vm: VmRecord, context: FlowContext): Promise<string> {
  for (let times = 0; ; ) {
    await context.clock.sleep(ASK_EVERY_MS, context.signal);
    const why = await lifeless(vm, context).catch((error: unknown) => {
      context.signal.throwIfAborted();
      context.debug(`the CPI does not say whether VM '${vm.cid}' lives: ${messageTrail(error)}`);
      return undefined;
    });
    times = why === undefined ? 0 : times + 1;
    if (why !== undefined && times === SURE_AFTER) return why;
  }
}

async function lifeless(vm: VmRecord, context: FlowContext): Promise<string | undefined> {
  const cloud = cloudOf(context, vm.cpi);
  const options = () => optionsOf(callAbout(vm, context), context);
  if (!(await cloud.hasVm(vm.cid, options()))) return "the cloud does not have the VM any more";
  const log = await cloud.vmLog(vm.cid, options());
  return log !== undefined && saysOff(log) ? "the VM is off" : undefined;
}

/** What becomes of the VM: it goes, or stays to be looked at. Those that compile never stay. */
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

/** What can be said of a VM whose agent is silent, without going there. */
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

const LAST_LINES = 8;
const LONGEST_LINE = 200;

/** What the VM said last, where the CPI can give it. That it cannot is told in the task's debug output alone. */
async function lastWords(vm: VmRecord, context: FlowContext): Promise<string> {
  try {
    const log = await cloudOf(context, vm.cpi).vmLog(vm.cid, optionsOf(callAbout(vm, context), context));
    const lines = (log ?? "").split("\n").filter((line) => line.trim() !== "" && line !== VM_IS_OFF);
    const last = lines.slice(-LAST_LINES).map(shortened).join(" | ");
    return last === "" ? "" : `. The VM's log ends with: ${last}`;
  } catch (error) {
    context.signal.throwIfAborted();
    context.debug(`the log of VM '${vm.cid}' could not be read: ${messageTrail(error)}`);
    return "";
  }
}

/** The log is the VM's: nothing in it may move the cursor of a terminal. */
function shortened(line: string): string {
  const plain = line.replace(/[\p{Cc}\p{Cf}]/gu, " ").trim();
  return plain.length > LONGEST_LINE ? `${plain.slice(0, LONGEST_LINE)}...` : plain;
}
