import type { JsonObject } from "@slipway/protocol/schema/json";
import type { SimDisk, SimVm, SimWorld } from "./world.ts";

/** An answer of an agent, or that there is none. */
export type SimAnswer =
  | { readonly value: unknown }
  | { readonly exception: string }
  | { readonly silent: string };

/** What an agent of the world does with a message. Strict where a real one would lose data. */
export function askSimAgent(
  world: SimWorld,
  agentId: string,
  method: string,
  args: readonly unknown[],
): SimAnswer {
  const vm = world.vmOfAgent(agentId);
  if (vm === undefined) return { silent: `no VM runs agent ${agentId}` };
  if (world.deaf.has(agentId)) return { silent: `agent ${agentId} hangs` };
  const answer = Object.hasOwn(MESSAGES, method) ? MESSAGES[method] : undefined;
  if (answer === undefined) return { exception: `unknown message ${method}` };
  try {
    return { value: answer(world, vm, args) ?? null };
  } catch (error) {
    return { exception: error instanceof Error ? error.message : String(error) };
  }
}

type Message = (world: SimWorld, vm: SimVm, args: readonly unknown[]) => unknown;

const MESSAGES: Readonly<Record<string, Message>> = {
  ping: () => "pong",
  get_state: (_, { agent, networks }) => ({
    job_state: agent.running ? "running" : "stopped",
    networks,
    ...agent.spec,
  }),
  apply: (_, { agent }, [spec]) => {
    agent.spec = spec as JsonObject;
    return "applied";
  },
  prepare: () => "prepared",
  start: (_, { agent }) => {
    agent.running = true;
    return "started";
  },
  stop: (_, { agent }) => {
    agent.running = false;
    return "stopped";
  },
  drain: () => 0,
  run_script: () => ({}),
  update_settings: (_, { agent }, [settings]) => {
    agent.certificateUntil = certificateIn(settings) ?? agent.certificateUntil;
    return "updated";
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
  remove_persistent_disk: (_, { agent }, [cid]) => {
    agent.hints.delete(String(cid));
    return "removed_persistent_disk";
  },
  mount_disk: (world, vm, [given]) => {
    const cid = String(given);
    const { agent } = vm;
    const disk = world.disks.get(cid);
    if (disk?.attachedTo !== vm.cid) throw new Error(`the device of disk ${cid} did not appear`);
    if (!agent.hints.has(cid)) throw new Error(`disk ${cid} has no hint`);
    if (agent.store === cid || agent.target === cid) return {};
    disk.data ??= `first mounted as ${cid}`;
    if (agent.store === null) agent.store = cid;
    else agent.target = cid;
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
