import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { AgentAddress } from "../agents/agent.ts";
import { activeVm, namedDisks, type VmRecord } from "../model/records.ts";
import { tellByDrafts } from "./agent-disks.ts";
import { addressOf, type CallIntent, callAbout, optionsOf, settingsOfAgent } from "./calls.ts";
import { agentOf, cloudOf, type FlowContext } from "./context.ts";
import { rerunStep } from "./define.ts";
import { diskMetadata } from "./metadata.ts";
import { readyAgent } from "./ready-agent.ts";
import { disksToDetach, isAgentResponsive, linkedDisks, wantedNamed } from "./select.ts";

interface Associate extends CallIntent {
  readonly vm: VmRecord;
  readonly agent: AgentAddress;
  readonly disks: Disks;
  /** Disks that the agent does not know yet. */
  readonly added: readonly { readonly cid: DiskCid; readonly hint: DiskHintWire | null }[];
  /** All that are to be linked. */
  readonly linked: readonly { readonly name: string; readonly cid: DiskCid }[];
  /** On the VM, and not to be linked. */
  readonly dropped: readonly DiskCid[];
  readonly metadata: JsonObject;
}

/** The agent learns where named disks are and links them by name. None is formatted or mounted. */
export const associateDisks = rerunStep<Associate>({
  name: "associate_disks",
  subject: "disk",
  calls: ["agent add_persistent_disk", "cpi set_disk_metadata", "agent update_settings"],
  status: "linking disks",
  intent: (subject, context) => {
    const vm = activeVm(subject.instance);
    if (vm === undefined) return undefined;
    const wanted = wantedNamed(subject).filter(({ attachedTo, active }) => active && attachedTo === vm.cid);
    const added = wanted.filter(({ mounted }) => !mounted).map(({ cid, hint }) => ({ cid, hint }));
    const linked = wanted.map(({ name, cid }) => ({ name, cid }));
    const dropped = namedDisks(subject.instance).flatMap(({ cid, attachedTo }) =>
      attachedTo === vm.cid && !linked.some((one) => one.cid === cid) ? [cid] : [],
    );
    if (added.length === 0 && dropped.length === 0) return undefined;
    const metadata = diskMetadata(subject, context);
    return {
      ...callAbout(vm, context),
      vm,
      disks: vm.disks,
      agent: addressOf(vm),
      added,
      linked,
      dropped,
      metadata,
    };
  },
  run: async (intent, context) => {
    const agent = agentOf(context, intent.agent);
    const ask = { signal: context.signal };
    await readyAgent(intent.vm, context);
    for (const { cid, hint } of intent.added) {
      const known = hint === null || (await agent.addPersistentDisk(cid, hint, ask));
      // An agent that reads the registry finds the hint there.
      if (!known && intent.channel !== "registry")
        await tellByDrafts(
          agent,
          { disk: cid, disks: intent.disks, linked: [] },
          hint,
          ask,
          context.settings,
        );
      await setMetadata(intent, cid, context);
    }
    await agent.updateSettings(settingsOfAgent(intent.linked, context.settings), ask);
  },
  // Whether they still are is not known from here on.
  invalidate: ({ dropped }, writes) => {
    for (const cid of dropped) writes.updateDisk(cid, { mounted: false });
  },
  record: ({ added }, _, writes) => {
    for (const { cid } of added) writes.updateDisk(cid, { mounted: true });
  },
});

const setMetadata = (intent: Associate, cid: DiskCid, context: FlowContext): Promise<void> =>
  cloudOf(context, intent.cpi).setDiskMetadata(cid, intent.metadata, optionsOf(intent, context));

interface Dissociate {
  readonly agent: AgentAddress;
  readonly freed: readonly DiskCid[];
  readonly linked: Associate["linked"];
}

/** Runs before disks leave the VM: an agent that restarts must not look for disks that are gone. */
export const dissociateDisks = rerunStep<Dissociate>({
  name: "dissociate_disks",
  subject: "disk",
  calls: ["agent update_settings"],
  intent: (subject) => {
    const vm = activeVm(subject.instance);
    if (vm === undefined || !isAgentResponsive(vm, subject)) return undefined;
    const freed = disksToDetach(subject).flatMap(({ cid, attachedTo }) =>
      attachedTo === vm.cid ? [cid] : [],
    );
    if (freed.length === 0) return undefined;
    const linked = linkedDisks(subject.instance, vm).filter(({ cid }) => !freed.includes(cid));
    return { agent: addressOf(vm), freed, linked };
  },
  run: ({ agent, linked }, context) =>
    agentOf(context, agent).updateSettings(settingsOfAgent(linked, context.settings), {
      signal: context.signal,
    }),
  invalidate: ({ freed }, writes) => {
    for (const cid of freed) writes.updateDisk(cid, { mounted: false });
  },
});
