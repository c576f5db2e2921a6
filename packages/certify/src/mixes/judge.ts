import { isDeepStrictEqual } from "node:util";
import { type Agreement, negotiate, type RegistryWriter } from "@slipway/protocol/negotiate";
import type { CallSeen, Entry, Moment, Seen } from "./row.ts";
import { WHEN } from "./row.ts";

/** How often the story calls what concerns a VM: deploy and recreate make one each, recreate and resize attach again. */
const STORY: Readonly<Record<RegistryWriter, number>> = {
  create_vm: 2,
  attach_disk: 3,
  detach_disk: 3,
  delete_vm: 2,
};

/** Where what was seen differs from what the contract says of this mix; in words, nothing when it agrees. */
export function disagreements(seen: Seen): readonly string[] {
  const agreed = negotiate({ director: seen.director, cpi: seen.cpi, stemcell: seen.stemcell });
  if (agreed.outcome === "refused") return agreed.problems;
  const problems: string[] = [];
  const expect: Expect = (what, got, wanted) => {
    if (!isDeepStrictEqual(got, wanted)) problems.push(`${what}: ${text(got)}, should be ${text(wanted)}`);
  };
  expect("info.api_version", seen.cpiSaid, agreed.cpi);
  for (const [method, times] of Object.entries(STORY))
    expect(`calls of ${method}`, seen.calls.filter((call) => call.method === method).length, times);
  for (const call of seen.calls) judgeCall(call, agreed, expect);
  expect(
    "the story",
    seen.moments.map(({ when }) => when),
    WHEN,
  );
  for (const moment of seen.moments) judgeMoment(moment, seen, agreed, expect);
  judgeTold(seen, agreed, expect);
  expect("what is left", seen.left, []);
  return problems;
}

type Expect = (what: string, got: unknown, wanted: unknown) => void;

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function judgeCall(call: CallSeen, agreed: Agreement, expect: Expect): void {
  const { method, answer } = call;
  expect(`api_version sent with ${method}`, call.apiVersion, agreed.apiVersion);
  expect(`stemcell version sent with ${method}`, call.stemcell, agreed.stemcell);
  if (method === "create_vm") expect("create_vm answers", answer, agreed.createVmResult);
  if (method === "attach_disk")
    expect("attach_disk answers a hint", answer !== null, agreed.attachDiskReturnsHint);
  judgeEntry(call, agreed, expect);
}

/** Every entry is followed from its first call to its last. */
function judgeEntry(call: CallSeen, agreed: Agreement, expect: Expect): void {
  const { method, before, after, disk } = call;
  const place = `the registry after ${method}`;
  if (!agreed.registryWrites.includes(method)) {
    expect(place, after, agreed.registryless ? "not started" : before);
    return;
  }
  const had = typeof before === "string" ? {} : before.disks;
  const others = Object.fromEntries(Object.entries(had).filter(([cid]) => cid !== disk));
  const owner = method === "create_vm" ? call.agentId : typeof before === "string" ? null : before.agentId;
  const wanted: Record<RegistryWriter, () => unknown> = {
    create_vm: () => ({ agentId: owner, disks: {} }),
    // Under version 1 nobody else is told the hint; under version 2 it is the one that was answered.
    attach_disk: () => ({
      agentId: owner,
      disks: { ...others, [disk ?? ""]: call.answer ?? hintIn(after, disk) },
    }),
    detach_disk: () => ({ agentId: owner, disks: others }),
    delete_vm: () => "no entry",
  };
  expect(place, after, wanted[method]());
}

const hintIn = (entry: Entry, disk: string | null) =>
  (typeof entry === "string" ? undefined : entry.disks[disk ?? ""]) ?? "a hint";

function judgeMoment(moment: Moment, seen: Seen, agreed: Agreement, expect: Expect): void {
  const { when, vm, disk } = moment;
  const gone = when === "stopped" || when === "deleted";
  expect(`${when}: there is a VM`, vm !== null, !gone);
  if (gone) {
    expect(`${when}: registry`, moment.registry, agreed.registryless ? "not started" : "no entry");
    return;
  }
  const attached = seen.calls.findLast((call) => call.method === "attach_disk" && call.disk === disk);
  const made = seen.calls.find((call) => call.method === "create_vm" && call.vm === vm);
  const hint = attached?.answer;
  const told = agreed.agentCalls.attach.includes("add_persistent_disk");
  expect(`${when}: user-data`, moment.userData, agreed.userData);
  expect(
    `${when}: settings from`,
    moment.settingsFrom,
    agreed.userData === "settings" ? "user-data" : "registry",
  );
  expect(`${when}: hints file of the agent`, moment.hints, told ? { [disk ?? ""]: hint } : {});
  const entry = { agentId: made?.agentId, disks: { [disk ?? ""]: hint ?? hintIn(moment.registry, disk) } };
  expect(`${when}: registry`, moment.registry, agreed.registryless ? "not started" : entry);
  expect(`${when}: data`, moment.data, when === "deployed" ? "written" : "kept");
}

/**
 * The first VM gets the disk and gives it back. The second too, and copies to a larger one between: the copy leaves the
 * old one unmounted.
 */
function judgeTold(seen: Seen, agreed: Agreement, expect: Expect): void {
  const { attach, detach } = agreed.agentCalls;
  expect(
    "the agents are told",
    seen.told.map(({ messages }) => messages),
    [
      [...attach, ...detach],
      [
        ...[...attach, ...attach, "migrate_disk"],
        ...detach.filter((message) => message !== "unmount_disk"),
        ...detach,
      ],
    ],
  );
}
