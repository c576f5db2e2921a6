import { activeVm } from "@slipway/engine/model/records";
import { messageTrail } from "@slipway/kernel/errors";
import type { Ui } from "../ui/ui.ts";
import type { Session } from "./session.ts";

const ANSWER_MS = 2_000;

/** What is up to date on paper may be dead; upstream's rule leaves it alone, and whoever reads should know. */
export async function tellSilent({ store, context, machine }: Session, ui: Ui): Promise<void> {
  const vm = store.instanceNow && activeVm(store.instanceNow);
  if (vm === undefined) return;
  const { signal } = context;
  try {
    await context.agents.agent(vm).ping({ timeoutMs: ANSWER_MS, signal });
  } catch (error) {
    signal.throwIfAborted();
    context.debug(`the agent on ${vm.cid}: ${messageTrail(error)}`);
    ui.note(
      `The agent on ${machine} '${vm.cid}' does not answer. --recreate makes a new ${machine} in its place, with the same disk.`,
    );
  }
}
