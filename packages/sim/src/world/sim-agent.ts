import { createHash } from "node:crypto";
import type { Disks } from "@slipway/protocol/settings/disks";
import { askBus, BUS, isCutOff, trustIn } from "./bus.ts";
import { apply, compilePackage, madeBlob, prepare, putBlob } from "./sim-jobs.ts";
import type { SimDisk, SimVm, SimWorld } from "./world.ts";

/** Answer of an agent, or the reason why there is no answer. */
export type SimAnswer =
  | { readonly value: unknown }
  | { readonly exception: string }
  | { readonly silent: string };

/** Handles a message as an agent of the world. Strict where a real one would lose data. */
export function askSimAgent(
  world: SimWorld,
  agentId: string,
  method: string,
  args: readonly unknown[],
): SimAnswer {
  if (agentId === BUS) return askBus(world, method, args);
  const vm = world.vmOfAgent(agentId);
  if (vm === undefined) return { silent: `no VM runs agent ${agentId}` };
  if (world.deaf.has(agentId)) return { silent: `agent ${agentId} hangs` };
  if (isCutOff(world, vm)) return { silent: `agent ${agentId} is not on the bus` };
  const unknown = UNKNOWN_TO[world.generation].includes(method) || !Object.hasOwn(MESSAGES, method);
  const answer = unknown ? undefined : MESSAGES[method];
  if (answer === undefined) return { exception: `unknown message ${method}` };
  try {
    return { value: answer(world, vm, args) ?? null };
  } catch (error) {
    return { exception: error instanceof Error ? error.message : String(error) };
  }
}

/** Messages that agents of each generation do not know. */
const UNKNOWN_TO: Readonly<Record<SimWorld["generation"], readonly string[]>> = {
  today: ["update_persistent_disk"],
  "first design": ["add_persistent_disk", "remove_persistent_disk"],
  first: ["add_persistent_disk", "remove_persistent_disk", "update_persistent_disk"],
  "draft B": ["add_persistent_disk", "remove_persistent_disk", "update_persistent_disk"],
};

type Message = (world: SimWorld, vm: SimVm, args: readonly unknown[]) => unknown;

const MESSAGES: Readonly<Record<string, Message>> = {
  ping: () => "pong",
  get_state: (_, { agent, networks }) => ({
    job_state: agent.running ? "running" : "stopped",
    networks,
    ...agent.spec,
  }),
  apply,
  prepare,
  put_blob: putBlob,
  get_blob: (_, { agentId }, [id]) => madeBlob(agentId, String(id)).toString("base64"),
  compile_package: compilePackage,
  start: (world, { agent }) => {
    agent.running = true;
    // What is on a named disk is the jobs' affair.
    for (const cid of agent.links.values()) {
      const disk = world.disks.get(cid);
      if (disk !== undefined) disk.data ??= `first used as ${cid}`;
    }
    return "started";
  },
  stop: (_, { agent }) => {
    agent.running = false;
    return "stopped";
  },
  drain: () => 0,
  run_script: () => ({}),
  fetch_logs: (_, { agentId }, [types]) => ({ blobstore_id: `logs-${agentId}-${String(types)}`, sha1: "" }),
  ssh: (_, { agent, networks }, [command, params]) => {
    const { user, user_regex: regex } = params as { user?: string; user_regex?: string };
    if (command === "cleanup") {
      const fits = new RegExp(String(regex));
      for (const name of agent.sshUsers) if (fits.test(name)) agent.sshUsers.delete(name);
      return { command, status: "success" };
    }
    agent.sshUsers.add(String(user));
    const [network] = Object.values(networks);
    return { command, status: "success", ip: network?.ip ?? "10.0.0.2", host_public_key: "ssh-rsa AAAA" };
  },
  run_errand: (_, { agent }, [job]) => {
    agent.errands.push(String(job));
    return { stdout: `${String(job)} ran\n`, stderr: "", exit_code: 0 };
  },
  update_settings: (world, vm, [settings]) => {
    const { agent } = vm;
    agent.certificateUntil = certificateIn(settings) ?? agent.certificateUntil;
    agent.trust = trustIn(settings) ?? agent.trust;
    if (isCutOff(world, vm)) world.violate(`agent ${vm.agentId} was told what cuts it off from the bus`);
    const { disks } = settings as { readonly disks?: Disks };
    if (disks?.persistent !== undefined && world.generation === "draft B") {
      agent.hints.clear();
      for (const [cid, hint] of Object.entries(disks.persistent)) agent.hints.set(cid, hint);
    }
    link(world, vm, settings);
    return "updated";
  },
  // With the blob, which a real agent was sent before.
  sync_dns: (_, { agent }, [id, digest, version, content]) => {
    if (agent.dns !== null && agent.dns.version >= Number(version)) return "synced";
    const bytes = Buffer.from(String(content), "base64");
    if (digest !== `sha256:${createHash("sha256").update(bytes).digest("hex")}`)
      throw new Error(`blob ${String(id)} is not what its digest says`);
    const text = bytes.toString();
    if ((JSON.parse(text) as { version?: unknown }).version !== version)
      throw new Error("version from unpacked dns blob does not match version supplied by director");
    agent.dns = { version: Number(version), text };
    return "synced";
  },
  shutdown: (_, { agent }) => {
    agent.running = false;
    return "shutdown";
  },
  list_disk: (_, { agent }) => [agent.store, agent.target].filter((cid) => cid !== null),
  add_persistent_disk: (_, { agent }, [cid, hint]) => {
    agent.hints.set(String(cid), hint);
    return "added_persistent_disk";
  },
  update_persistent_disk: (_, { agent }, [cid, hint]) => {
    agent.hints.set(String(cid), hint);
    return "updated_persistent_disk";
  },
  remove_persistent_disk: (_, { agent }, [cid]) => {
    agent.hints.delete(String(cid));
    return "removed_persistent_disk";
  },
  mount_disk: (world, vm, [given, hint]) => {
    const cid = String(given);
    const { agent } = vm;
    if (hint !== undefined && world.generation === "first") agent.hints.set(cid, hint);
    const disk = world.disks.get(cid);
    if (disk?.attachedTo !== vm.cid) throw new Error(`the device of disk ${cid} did not appear`);
    if (!agent.hints.has(cid)) throw new Error(`disk ${cid} has no hint`);
    if (agent.store === cid || agent.target === cid) return {};
    disk.data ??= `first mounted as ${cid}`;
    if (agent.store === null) agent.store = cid;
    else if (agent.target === null) agent.target = cid;
    else throw new Error(`disk ${agent.target} is mounted where disk ${cid} belongs`);
    return {};
  },
  unmount_disk: (_, { agent }, [given]) => {
    const cid = String(given);
    if (agent.store === cid) agent.store = null;
    else if (agent.target === cid) agent.target = null;
    else throw new Error(`disk ${cid} is not mounted`);
    return { message: `Unmounted ${cid}` };
  },
  migrate_disk: (world, { agent }, [from, to]) => {
    // Ours would finish a change that is under way; others know nothing of the one before.
    if (agent.store !== from || agent.target !== to)
      throw new Error(`nothing to migrate: store is ${agent.store}, target is ${agent.target}`);
    const source = world.disks.get(String(from));
    const copy = world.disks.get(String(to));
    if (source === undefined || copy === undefined) throw new Error("a disk of the migration is gone");
    if (world.copyFails) {
      agent.store = null;
      agent.target = null;
      throw new Error("the copy failed");
    }
    copy.data = source.data;
    copy.files = new Map(source.files);
    agent.store = copy.cid;
    agent.target = null;
    return {};
  },
  write_store_file: (world, vm, [given]) => {
    const { path, content } = given as { path: string; content: string };
    storeOf(world, vm).files.set(path, content);
    return {};
  },
  read_store_file: (world, vm, [given]) => {
    const { path } = given as { path: string };
    const content = storeOf(world, vm).files.get(path);
    if (content === undefined) throw new Error(`there is no file ${path}`);
    return { content };
  },
};

/** Replaces the links of an agent. Links that are not named any more are removed. */
function link(world: SimWorld, { cid: vm, agent }: SimVm, settings: unknown): void {
  const { disk_associations: wanted = [] } = settings as {
    readonly disk_associations?: readonly { readonly name: string; readonly cid: string }[];
  };
  for (const { cid } of wanted)
    if (!agent.hints.has(cid) || world.disks.get(cid)?.attachedTo !== vm)
      throw new Error(`disk ${cid} is not attached`);
  agent.links.clear();
  for (const { name, cid } of wanted) agent.links.set(name, cid);
}

/** A certificate of the world is the time it ends: in the settings of a new VM, and in those that renew it. */
export function certificateIn(settings: unknown): number | undefined {
  const { mbus } = (settings ?? {}) as { readonly mbus?: { readonly cert?: { readonly until?: unknown } } };
  const until = mbus?.cert?.until;
  return typeof until === "number" ? until : undefined;
}

function storeOf(world: SimWorld, { agent }: SimVm): SimDisk {
  const disk = agent.store === null ? undefined : world.disks.get(agent.store);
  if (disk === undefined) throw new Error("no persistent disk is mounted");
  return disk;
}
