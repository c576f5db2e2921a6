import { isDeepStrictEqual } from "node:util";
import { type ContractRow, rowOf } from "../matrix/contract.ts";
import type { CallSeen, MixObservations, MixSnapshot, RegistryState, RegistryUser, When } from "./row.ts";

/** How often the stories call what concerns a VM: deploy and recreate make one each, recreate and resize attach again. */
const STORIES: Readonly<
  Record<
    ContractRow["deployer"],
    { readonly calls: Readonly<Record<RegistryUser, number>>; readonly when: readonly When[] }
  >
> = {
  Director: {
    calls: { create_vm: 2, attach_disk: 3, detach_disk: 3, delete_vm: 2 },
    when: ["deployed", "recreated", "resized", "stopped", "deleted"],
  },
  "create-env": {
    calls: { create_vm: 3, attach_disk: 4, detach_disk: 4, delete_vm: 3 },
    when: ["deployed", "recreated", "resized", "deleted"],
  },
};

/**
 * Lists in words how the observations differ from what the contract says of this mix; empty if they agree. It knows
 * the contract only from its own table.
 */
export function disagreements(seen: MixObservations, contract = rowOf): readonly string[] {
  const row = contract(seen);
  if (row === undefined) return ["the contract has no such row"];
  const problems: string[] = [];
  const expect: Expect = (what, got, wanted) => {
    if (!isDeepStrictEqual(got, wanted)) problems.push(`${what}: ${text(got)}, should be ${text(wanted)}`);
  };
  expect("info.api_version", seen.cpiSaid, row.info);
  const story = STORIES[row.deployer];
  for (const [method, times] of Object.entries(story.calls))
    expect(`calls of ${method}`, seen.calls.filter((call) => call.method === method).length, times);
  for (const call of seen.calls) judgeCall(call, row, expect);
  expect(
    "the story",
    seen.moments.map(({ when }) => when),
    story.when,
  );
  for (const moment of seen.moments) judgeMoment(moment, seen, row, expect);
  expect(
    "the agents are told",
    seen.told.map(({ messages }) => messages),
    row.told,
  );
  expect("what is left", seen.left, []);
  return problems;
}

type Expect = (what: string, got: unknown, wanted: unknown) => void;

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function judgeCall(call: CallSeen, row: ContractRow, expect: Expect): void {
  const { method, answer } = call;
  expect(`api_version sent with ${method}`, call.apiVersion, row.sent.apiVersion);
  expect(`stemcell version sent with ${method}`, call.stemcell, row.sent.stemcell);
  expect(`registry sent with ${method}`, call.registryTold, row.sent.registry);
  if (method === "create_vm") expect("create_vm answers", answer, row.createVm);
  if (method === "attach_disk")
    expect("attach_disk answers a hint", answer !== null, row.attachDisk === "hint");
  judgeEntry(call, row, expect);
}

/** Every entry is followed from its first call to its last. */
function judgeEntry(call: CallSeen, row: ContractRow, expect: Expect): void {
  const { method, before, after, disk } = call;
  const place = `the registry after ${method}`;
  if (!row.registry) {
    expect(place, after, "not started");
    return;
  }
  const had = typeof before === "string" ? {} : before.disks;
  const others = Object.fromEntries(Object.entries(had).filter(([cid]) => cid !== disk));
  const owner = method === "create_vm" ? call.agentId : typeof before === "string" ? null : before.agentId;
  const wanted: Record<RegistryUser, () => unknown> = {
    create_vm: () => ({ agentId: owner, disks: {} }),
    // Under version 1 only the registry gets the hint; under version 2 it is the one that was answered.
    attach_disk: () => ({
      agentId: owner,
      disks: { ...others, [disk ?? ""]: call.answer ?? hintIn(after, disk) },
    }),
    detach_disk: () => ({ agentId: owner, disks: others }),
    delete_vm: () => "no entry",
  };
  expect(place, after, wanted[method]());
}

const hintIn = (entry: RegistryState, disk: string | null) =>
  (typeof entry === "string" ? undefined : entry.disks[disk ?? ""]) ?? "a hint";

function judgeMoment(moment: MixSnapshot, seen: MixObservations, row: ContractRow, expect: Expect): void {
  const { when, vm, disk } = moment;
  const gone = when === "stopped" || when === "deleted";
  expect(`${when}: there is a VM`, vm !== null, !gone);
  if (gone) {
    // With its last VM, the registry of an environment goes too.
    const ended = row.deployer === "create-env" || !row.registry;
    expect(`${when}: registry`, moment.registry, ended ? "not started" : "no entry");
    return;
  }
  const attached = seen.calls.findLast((call) => call.method === "attach_disk" && call.disk === disk);
  const made = seen.calls.find((call) => call.method === "create_vm" && call.vm === vm);
  const hint = attached?.answer;
  expect(`${when}: user-data`, moment.userData, row.userData);
  expect(`${when}: settings from`, moment.settingsFrom, row.registry ? "registry" : "user-data");
  const kept = judgedHints(moment, seen, row);
  expect(`${when}: hints file of the agent`, kept, row.hintsFile ? { [disk ?? ""]: hint } : {});
  const entry = { agentId: made?.agentId, disks: { [disk ?? ""]: hint ?? hintIn(moment.registry, disk) } };
  expect(`${when}: registry`, moment.registry, row.registry ? entry : "not started");
  expect(`${when}: data`, moment.data, when === "deployed" ? "written" : "kept");
}

/** An agent of the first design has no message to forget a disk by: its file may still have the one before. */
function judgedHints(
  { hints, disk }: MixSnapshot,
  seen: MixObservations,
  row: ContractRow,
): MixSnapshot["hints"] {
  if (row.agent !== "first v2" || hints === null) return hints;
  const detached = seen.calls.flatMap((call) => (call.method === "detach_disk" ? [call.disk] : []));
  return Object.fromEntries(Object.entries(hints).filter(([cid]) => cid === disk || !detached.includes(cid)));
}
