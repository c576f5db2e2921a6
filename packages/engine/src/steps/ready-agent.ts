import { messageTrail } from "@slipway/kernel/errors";
import { saysOff, VM_IS_OFF } from "@slipway/protocol/cpi/methods/get_vm_log";
import { AgentSilent } from "../agents/agent.ts";
import type { VmRecord } from "../model/records.ts";
import { addressOf, callAbout, optionsOf } from "./calls.ts";
import { agentOf, cloudOf, type FlowContext } from "./context.ts";

/** Waits until the agent of a VM in use answers. A VM that dies meanwhile fails the wait with the reason. */
export async function readyAgent(vm: VmRecord, context: FlowContext): Promise<void> {
  const started = context.clock.monotonic();
  try {
    await pingWhileVmLives(vm, context);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof VmDied)) throw error;
    throw new AgentSilent(`${await deathNotice(vm, error, started, context)}${whatNext(context)}`);
  }
}

/** `started` is the monotonic time at which the wait began. */
export async function deathNotice(
  vm: VmRecord,
  { message }: VmDied,
  started: number,
  context: FlowContext,
): Promise<string> {
  const seconds = Math.round((context.clock.monotonic() - started) / 1000);
  return `VM '${vm.cid}' died while its agent '${vm.agentId}' was awaited, after ${seconds} seconds: ${message}${await lastWords(vm, context)}`;
}

/** Environments of `create-env` are given another VM by the next run. */
const whatNext = ({ deployment, settings }: FlowContext): string =>
  settings.keepUnreachableVms === undefined
    ? ""
    : `. Its disks are kept: \`bosh -d ${deployment} cck\` or \`bosh -d ${deployment} deploy --fix\` makes another VM in its place`;

export class VmDied extends AgentSilent {}

const ASK_EVERY_MS = 20_000;
/** A cloud may not show a VM at once that it has just made, and a VM that restarts is off for a moment. */
const SURE_AFTER = 2;

/** Pings until the agent answers. Ends with `VmDied` once the CPI says repeatedly that the VM is gone or off. */
export async function pingWhileVmLives(vm: VmRecord, context: FlowContext): Promise<void> {
  const over = new AbortController();
  const died = new AbortController();
  const asked = { ...context, signal: AbortSignal.any([context.signal, over.signal]) };
  // It ends with the wait, and what goes wrong with the questions does not matter: the wait goes on.
  void deathOf(vm, asked).then(
    (why) => died.abort(new VmDied(why)),
    () => undefined,
  );
  try {
    await agentOf(context, addressOf(vm)).waitUntilReady({
      withinMs: context.settings.agentWaitMs,
      signal: AbortSignal.any([context.signal, died.signal]),
    });
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

const LAST_LINES = 8;
const LONGEST_LINE = 200;

/** Returns the end of the VM's log, if the CPI can give it. If not, only the task's debug output says so. */
export async function lastWords(vm: VmRecord, context: FlowContext): Promise<string> {
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
