import type { CallSeen, MixObservations, MixSnapshot, RegistryState } from "../row.ts";

type Lie = (seen: MixObservations) => MixObservations;

const HINT = { path: "/elsewhere" };

/** Changes the first call of a method. */
const inCall =
  (method: CallSeen["method"], change: (call: CallSeen) => Partial<CallSeen>): Lie =>
  (seen) => {
    const at = seen.calls.findIndex((call) => call.method === method);
    const calls = seen.calls.map((call, index) => (index === at ? { ...call, ...change(call) } : call));
    return { ...seen, calls };
  };

const inMoment =
  (when: MixSnapshot["when"], change: (moment: MixSnapshot) => Partial<MixSnapshot>): Lie =>
  (seen) => ({
    ...seen,
    moments: seen.moments.map((moment) => (moment.when === when ? { ...moment, ...change(moment) } : moment)),
  });

const elsewhere = (entry: RegistryState): RegistryState =>
  typeof entry === "string" ? { agentId: "somebody", disks: {} } : { ...entry, agentId: "somebody" };

const untold =
  (unsaid: string): Lie =>
  (seen) => ({
    ...seen,
    told: seen.told.map(({ vm, messages }) => ({
      vm,
      messages: messages.filter((message) => message !== unsaid),
    })),
  });

/** One thing each that was not as seen. Whatever the mix, the judge must notice. */
export const LIES: Readonly<Record<string, Lie>> = {
  "the CPI had said another version": (seen) => ({ ...seen, cpiSaid: seen.cpiSaid === 2 ? null : 2 }),
  "create_vm had been sent with another version": inCall("create_vm", () => ({ apiVersion: 3 })),
  "the CPI had been told of another stemcell": inCall("create_vm", (call) => ({
    stemcell: call.stemcell === 2 ? 1 : 2,
  })),
  "the CPI had been told of a registry, or not": inCall("attach_disk", (call) => ({
    registryTold: !call.registryTold,
  })),
  "create_vm had answered in the other shape": inCall("create_vm", (call) => ({
    answer: call.answer === "cid" ? "[cid, networks]" : "cid",
  })),
  "attach_disk had answered the other way": inCall("attach_disk", (call) => ({
    answer: call.answer === null ? HINT : null,
  })),
  "create_vm had left the entry of another agent": inCall("create_vm", ({ after }) => ({
    after: elsewhere(after),
  })),
  "create_vm had treated the registry the other way": inCall("create_vm", ({ after }) => ({
    after: after === "not started" ? "no entry" : "not started",
  })),
  "attach_disk had left no disk in the registry, or one too many": inCall(
    "attach_disk",
    ({ after, before }) => ({ after: after === "not started" ? elsewhere(after) : before }),
  ),
  "detach_disk had left the disk in the registry": inCall("detach_disk", ({ disk }) => ({
    after: { agentId: "somebody", disks: { [disk ?? ""]: HINT } },
  })),
  "delete_vm had left the entry": inCall("delete_vm", ({ before }) => ({ after: elsewhere(before) })),
  "a disk had been attached once less": (seen) => ({
    ...seen,
    calls: seen.calls.filter((call, at) => call.method !== "attach_disk" || at < 2),
  }),
  "user-data had held the other thing": inMoment("deployed", ({ userData }) => ({
    userData: userData === "settings" ? "registry" : "settings",
  })),
  "the settings had come from elsewhere": inMoment("recreated", ({ settingsFrom }) => ({
    settingsFrom: settingsFrom === "registry" ? "user-data" : "registry",
  })),
  "nobody could say where the settings came from": inMoment("deployed", () => ({ settingsFrom: "unknown" })),
  "the agent had kept another hint": inMoment("deployed", ({ disk }) => ({ hints: { [disk ?? ""]: HINT } })),
  "the agent had kept the hint of the old disk": inMoment("resized", ({ hints }) => ({
    hints: { ...hints, "disk-of-before": HINT },
  })),
  "the registry had kept the old disk": inMoment("resized", ({ registry }) => ({
    registry: elsewhere(registry),
  })),
  "the data had been lost by the recreate": inMoment("recreated", () => ({ data: "lost" })),
  "the data had been lost by the copy": inMoment("resized", () => ({ data: "lost" })),
  "a stopped VM had kept its entry": inMoment("stopped", ({ registry }) => ({
    registry: elsewhere(registry),
  })),
  "a deleted deployment had kept its VM": inMoment("deleted", () => ({ vm: "vm-1" })),
  "nobody had looked after the recreate": (seen) => ({
    ...seen,
    moments: seen.moments.filter(({ when }) => when !== "recreated"),
  }),
  "the agent had been told to mount only, or a hint too": (seen) => ({
    ...seen,
    told: seen.told.map(({ vm, messages }) => ({
      vm,
      messages: messages.includes("add_persistent_disk")
        ? messages.filter((message) => message !== "add_persistent_disk")
        : ["add_persistent_disk", ...messages],
    })),
  }),
  "the agent had not been told to unmount": untold("unmount_disk"),
  "the agent had not been told to forget the disk": untold("remove_persistent_disk"),
  "a disk had been left": (seen) => ({ ...seen, left: ["disk-1"] }),
};
