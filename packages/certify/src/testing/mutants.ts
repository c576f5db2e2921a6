import { cp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { methodNamed } from "@slipway/protocol/cpi/methods";
import type { RunProgram, Spoken } from "../exec-cpi.ts";
import type { CpiRuleId } from "../rules/catalogue.ts";
import {
  done,
  type FullTiny,
  fullTinyProgram,
  readRequest,
  refused,
  spoken,
  type TestRequest,
} from "./full-tiny.ts";

import { changed, instead, type Mutant } from "./mutant.ts";
import { REGISTRY_MUTANTS } from "./registry-mutants.ts";

/** Answers input that is no well-formed request. */
const toInput = (breaks: string, answer: (input: string) => Spoken | undefined): Mutant => ({
  breaks,
  program: (config) => {
    const sound = fullTinyProgram(config);
    return async (input, signal) => answer(input) ?? (await sound(input, signal));
  },
});

/** Hints and shapes of old parts are rules of the registry. */
const needsNoRegistry = ({ context }: TestRequest): boolean =>
  (context.vm as { readonly stemcell?: { readonly api_version?: number } } | undefined)?.stemcell
    ?.api_version === 2;

const crash: Spoken = { out: "", err: "panic: index out of range", code: 2 };
const argumentOf = ({ arguments: args }: TestRequest, at: number): unknown =>
  Array.isArray(args) ? (args as readonly unknown[])[at] : undefined;
const slotsOf = async (tiny: FullTiny, vm: string) => join(await tiny.dir(), "vms", vm, "disks");
const listed = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);

async function holders(tiny: FullTiny, disk: unknown): Promise<readonly string[]> {
  const vms = join(await tiny.dir(), "vms");
  const all = await listed(vms);
  const held = await Promise.all(
    all.map(async (vm) => (await listed(join(vms, vm, "disks"))).includes(String(disk))),
  );
  return all.filter((_, at) => held[at]);
}

async function dropDisk(tiny: FullTiny, disk: string): Promise<void> {
  for (const vm of await holders(tiny, disk)) await rm(join(await slotsOf(tiny, vm), disk), { force: true });
  await rm(join(await tiny.dir(), "disks", disk), { force: true });
}

const WIRE: Partial<Record<CpiRuleId, Mutant>> = {
  "CPI-WIRE-001": changed("its stemcell formats are a text", "info", (reply) =>
    done({ ...(reply.result as object), stemcell_formats: "tiny-tar" }),
  ),
  "CPI-WIRE-002": changed("info differs with the version", "info", (reply, { api_version }) =>
    done({ ...(reply.result as object), asked: api_version ?? 0 }),
  ),
  "CPI-WIRE-003": toInput("it crashes without input", (input) => (input === "" ? crash : undefined)),
  "CPI-WIRE-004": toInput("it answers what is not JSON in plain words", (input) =>
    input !== "" && readRequest(input) === undefined ? { out: "what?", err: "", code: 0 } : undefined,
  ),
  "CPI-WIRE-005": instead("it answers a request without a method", async (_, { method }) =>
    typeof method === "string" ? undefined : done(null),
  ),
  "CPI-WIRE-006": instead("an unknown method is a CloudError", async (_, { method }) =>
    typeof method === "string" && methodNamed(method) === undefined
      ? refused("CloudError", "what?")
      : undefined,
  ),
  "CPI-WIRE-007": instead(
    "it answers a request whose arguments are no list",
    async (_, { arguments: args }) => (Array.isArray(args) ? undefined : done(false)),
  ),
  "CPI-WIRE-008": instead("it takes a text for a size", async (tiny, request) =>
    request.method === "create_disk" && typeof argumentOf(request, 0) === "string"
      ? await tiny.ask({ ...request, arguments: [Number(argumentOf(request, 0)), {}, null] })
      : undefined,
  ),
  "CPI-WIRE-009": toInput("it crashes at a version that is a text", (input) =>
    typeof readRequest(input)?.api_version === "string" ? crash : undefined,
  ),
  "CPI-WIRE-010": instead("it refuses a context with foreign keys", async (_, { context }) =>
    context?.weather === undefined ? undefined : refused("CpiError", "what is weather?"),
  ),
  "CPI-WIRE-011": changed("it logs its request", "create_vm", (reply, request) => ({
    ...reply,
    log: JSON.stringify(request),
  })),
  "CPI-WIRE-012": changed("it refuses without a message", "attach_disk", (reply) =>
    reply.error === null ? reply : { ...reply, error: { ...reply.error, message: "" } },
  ),
};

const VMS: Partial<Record<CpiRuleId, Mutant>> = {
  "CPI-STEMCELL-001": changed("the cid of a stemcell is a number", "create_stemcell", () => done(7)),
  "CPI-STEMCELL-002": instead("a stemcell that is gone cannot be deleted", async (tiny, request) =>
    request.method === "delete_stemcell" && !(await tiny.has("stemcells", argumentOf(request, 0)))
      ? refused("CloudError", "no such stemcell")
      : undefined,
  ),
  "CPI-VM-001": changed("version 2 gets a bare cid", "create_vm", (reply, request) =>
    Array.isArray(reply.result) && needsNoRegistry(request) ? done(reply.result[0]) : reply,
  ),
  "CPI-VM-002": changed(
    "create_vm attaches the disks it is given",
    "create_vm",
    async (reply, request, tiny) => {
      const disks = argumentOf(request, 4);
      if (!Array.isArray(disks) || !Array.isArray(reply.result)) return reply;
      for (const disk of disks)
        await tiny.ask({ ...request, method: "attach_disk", arguments: [reply.result[0], disk] });
      return reply;
    },
  ),
  "CPI-VM-003": instead("an unknown stemcell is replaced by another", async (tiny, request) => {
    if (request.method !== "create_vm" || argumentOf(request, 1) !== "stemcell-nobody-has") return undefined;
    const [other] = await listed(join(await tiny.dir(), "stemcells"));
    return await tiny.ask({ ...request, arguments: request.arguments.with(1, other) });
  }),
  "CPI-VM-004": instead("has_vm refuses an odd cid", async (_, request) =>
    request.method === "has_vm" && argumentOf(request, 0) === "../etc"
      ? refused("CloudError", "this is no cid")
      : undefined,
  ),
  "CPI-VM-005": instead("a VM that never was cannot be deleted", async (_, request) =>
    request.method === "delete_vm" && argumentOf(request, 0) === "vm-nobody-has"
      ? refused("CloudError", "no such VM")
      : undefined,
  ),
  "CPI-VM-006": instead("long tags are refused", async (_, request) =>
    request.method === "set_vm_metadata" && JSON.stringify(request.arguments).length > 1000
      ? refused("CloudError", "a tag is too long")
      : undefined,
  ),
  "CPI-VM-007": changed("an unknown VM is rebooted", "reboot_vm", () => done(null)),
  "CPI-VM-008": changed("incomplete resources are guessed", "calculate_vm_cloud_properties", () =>
    done({ cpus: 1 }),
  ),
  "CPI-NETWORK-001": changed("configure_networks does nothing", "configure_networks", () => done(null)),
  "CPI-NETWORK-002": changed("all networks have one range", "create_network", ({ result }) =>
    done([(result as unknown[])[0], { range: "10.9.0.0/24" }, {}]),
  ),
};

const DISKS: Partial<Record<CpiRuleId, Mutant>> = {
  "CPI-DISK-001": instead("delete_vm deletes the disks of the VM", async (tiny, request) => {
    if (request.method !== "delete_vm") return undefined;
    const disks = await listed(await slotsOf(tiny, String(argumentOf(request, 0))));
    const reply = await tiny.ask(request);
    for (const disk of disks) await dropDisk(tiny, disk);
    return reply;
  }),
  "CPI-DISK-002": changed("an odd size gets no cid", "create_disk", (reply, request) =>
    argumentOf(request, 0) === 65 ? done("") : reply,
  ),
  "CPI-DISK-003": changed("every cid is a disk", "has_disk", (reply, request) =>
    argumentOf(request, 0) === "-rf" ? done(true) : reply,
  ),
  "CPI-DISK-004": changed("a hint has a number in it", "attach_disk", (reply, request) =>
    reply.error === null && needsNoRegistry(request) ? done({ ...(reply.result as object), lun: 1 }) : reply,
  ),
  "CPI-DISK-005": {
    ...instead("a disk is attached once only", async (tiny, request) =>
      request.method === "attach_disk" &&
      (await holders(tiny, argumentOf(request, 1))).includes(String(argumentOf(request, 0)))
        ? refused("CloudError", "the disk is attached")
        : undefined,
    ),
    also: {
      rules: ["CPI-DISK-006", "CPI-DISK-013", "CPI-DISK-016"],
      why: "they ask for the hint of an attached disk, and attaching again is the only way to",
    },
  },
  "CPI-DISK-006": changed("all disks have one hint", "attach_disk", (reply, request) =>
    reply.error === null && needsNoRegistry(request) ? done({ id: "the disk" }) : reply,
  ),
  "CPI-DISK-007": changed("an unknown disk is attached", "attach_disk", (reply, request) =>
    argumentOf(request, 1) === "disk-nobody-has" ? done({ id: "disk-nobody-has" }) : reply,
  ),
  "CPI-DISK-008": instead("a disk is attached to several VMs", async (tiny, request) => {
    if (request.method !== "attach_disk") return undefined;
    const [vm, disk] = request.arguments.map(String);
    const others = (await holders(tiny, disk)).filter((one) => one !== vm);
    if (others.length === 0) return undefined;
    await writeFile(join(await slotsOf(tiny, String(vm)), String(disk)), "");
    return done({ id: disk });
  }),
  "CPI-DISK-009": changed("detach_disk detaches all disks", "detach_disk", async (reply, request, tiny) => {
    if (reply.error !== null) return reply;
    const slots = await slotsOf(tiny, String(argumentOf(request, 0)));
    for (const disk of await listed(slots)) await rm(join(slots, disk));
    return reply;
  }),
  "CPI-DISK-010": changed("detach_disk does not look", "detach_disk", (reply) =>
    reply.error?.type === "Bosh::Clouds::DiskNotAttached" ? done(null) : reply,
  ),
  "CPI-DISK-011": changed("an unknown disk is a CloudError", "detach_disk", (reply, request) =>
    argumentOf(request, 1) === "disk-nobody-has" ? refused("CloudError", "what disk?") : reply,
  ),
  "CPI-DISK-012": changed("a smaller size is ignored", "resize_disk", (reply) =>
    reply.error?.type === "Bosh::Clouds::NotSupported" ? done(null) : reply,
  ),
  "CPI-DISK-013": instead("resize_disk loses an attached disk", async (tiny, request) => {
    const disk = String(argumentOf(request, 0));
    if (request.method !== "resize_disk" || (await holders(tiny, disk)).length === 0) return undefined;
    await dropDisk(tiny, disk);
    return done(null);
  }),
  "CPI-DISK-014": changed("update_disk names a disk that is not there", "update_disk", () =>
    done("disk-new"),
  ),
  "CPI-DISK-015": instead("a disk that never was cannot be deleted", async (_, request) =>
    request.method === "delete_disk" && argumentOf(request, 0) === "disk-nobody-has"
      ? refused("CloudError", "what disk?")
      : undefined,
  ),
  "CPI-DISK-016": instead("delete_disk deletes an attached disk", async (tiny, request) => {
    const disk = String(argumentOf(request, 0));
    if (request.method !== "delete_disk" || (await holders(tiny, disk)).length === 0) return undefined;
    await dropDisk(tiny, disk);
    return done(null);
  }),
  "CPI-SNAPSHOT-001": changed("a disk has one snapshot", "snapshot_disk", async (reply, request, tiny) => {
    if (reply.error !== null) return reply;
    const snapshots = join(await tiny.dir(), "snapshots");
    const one = `snapshot-of-${String(argumentOf(request, 0))}`;
    await cp(join(snapshots, String(reply.result)), join(snapshots, one));
    await rm(join(snapshots, String(reply.result)));
    return done(one);
  }),
};

/** Disks that are made at the same time are one disk. */
function sharing(config: string): RunProgram {
  let making: Promise<CpiResponse> | undefined;
  return fullTinyProgram(config, async (tiny, request) => {
    if (request.method !== "create_disk") return await tiny.ask(request);
    making ??= tiny.ask(request).finally(() => {
      making = undefined;
    });
    return await making;
  });
}

/** Leaves its lock behind if it is killed. */
function locking(config: string): RunProgram {
  let locked = false;
  const sound = fullTinyProgram(config);
  return async (input, signal) => {
    if (readRequest(input)?.method !== "create_vm") return await sound(input, signal);
    if (locked) return spoken(refused("CloudError", "another call holds the lock"));
    await untilKilled(signal);
    locked ||= signal.aborted;
    if (signal.aborted) throw new Error("killed");
    return await sound(input, signal);
  };
}

const SLOWNESS_MS = 90;
const untilKilled = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, SLOWNESS_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

const CALLS: Partial<Record<CpiRuleId, Mutant>> = {
  "CPI-CALL-001": { breaks: "disks that are made at once are one disk", program: sharing },
  "CPI-CALL-002": { breaks: "a killed call leaves a lock", program: locking },
};

/** For each rule a CPI that breaks it. */
export const MUTANTS: Partial<Record<CpiRuleId, Mutant>> = {
  ...WIRE,
  ...VMS,
  ...DISKS,
  ...REGISTRY_MUTANTS,
  ...CALLS,
};
