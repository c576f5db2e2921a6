import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import type { AgentSettings, UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import { type DiskHint, parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import { silentLog } from "../log.ts";
import { pathsUnder } from "../paths.ts";
import type { DiskSettings } from "../platform/disks.ts";
import type { Platform, SystemPlatform } from "../platform/platform.ts";
import type { AgentServices, SettingsService } from "../services.ts";
import { FakeDisks } from "./fake-disks.ts";

/** Everything an action needs, kept in memory, with a record of what was asked of the system. */
export interface FakeWorld {
  readonly services: AgentServices;
  readonly disks: FakeDisks;
  readonly told: { readonly what: string; readonly args: readonly unknown[] }[];
  readonly published: { readonly topic: string; readonly payload: unknown }[];
  readonly restarts: string[];
  managed: string | undefined;
  spec: ApplySpec | undefined;
}

const SETTINGS = {
  agent_id: "agent-1",
  vm: { name: "vm-1" },
  networks: {
    private: { type: "manual", ip: "10.0.0.5", netmask: "255.255.255.0", default: ["dns", "gateway"] },
  },
} as unknown as AgentSettings;

export async function fakeWorld(settings: AgentSettings = SETTINGS): Promise<FakeWorld> {
  const base = await mkdtemp(join(tmpdir(), "slipway-agent-"));
  const disks = new FakeDisks();
  const told: FakeWorld["told"] = [];
  const world = {
    disks,
    told,
    published: [],
    restarts: [],
    managed: undefined,
    spec: undefined,
  } as unknown as FakeWorld;
  const platform: Platform = {
    name: "fake",
    disks,
    networks: {
      configure: async () => {},
      live: async () => ({ ip: "10.9.9.9", netmask: "255.255.255.0", gateway: "10.9.9.1" }),
      deleteArpEntries: async (ips) => void told.push({ what: "deleteArpEntries", args: [ips] }),
    },
    system: fakeSystem(told),
    layout: {
      systemDirectories: async () => {},
      startLogging: async () => {},
      memory: async () => {},
      temporary: async () => {},
    },
  };
  let migrated: string | undefined;
  const services: AgentServices = {
    paths: pathsUnder(base, base),
    platform,
    settings: fakeSettings(settings),
    spec: {
      load: async () => world.spec,
      save: async (spec) => {
        world.spec = spec;
      },
    },
    managedDisk: {
      load: async () => world.managed,
      save: async (cid) => {
        world.managed = cid;
      },
      clear: async () => {
        world.managed = undefined;
      },
    },
    migratedDisk: {
      load: async () => migrated,
      save: async (cid) => {
        migrated = cid;
      },
      clear: async () => {
        migrated = undefined;
      },
    },
    blobs: {
      fetch: async () => join(base, "blob"),
      use: (_source, _signal, work) => work(join(base, "blob")),
      remove: async (id) => void told.push({ what: "remove blob", args: [id] }),
      store: async () => ({ blobId: "blob-1", digest: "0".repeat(40) }),
      write: async (kind, id, content) => void told.push({ what: `write ${kind}`, args: [id, content] }),
      read: async () => undefined,
    } as AgentServices["blobs"],
    supervisor: {
      status: async () => ({ state: "running", processes: [] }),
      watch: async () => {},
      start: async () => {},
      stop: async () => {},
      unmonitor: async () => {},
    },
    publish: async (topic, payload) => void world.published.push({ topic, payload }),
    reconnect: async () => false,
    restart: (why) => void world.restarts.push(why),
    exec: systemExec,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  };
  return Object.assign(world, { services });
}

function fakeSettings(settings: AgentSettings): SettingsService {
  const hints = new Map<string, DiskHint>();
  let updates: UpdateSettings = {};
  const disk = (cid: string, hint: DiskHint): DiskSettings => ({
    cid,
    hint,
    fileSystem: "",
    mountOptions: ["noatime"],
    partitioner: "",
  });
  return {
    current: () => settings,
    updates: () => updates,
    reload: async () => settings,
    saveUpdates: async (next) => {
      const restart = next.mbus !== undefined && JSON.stringify(next.mbus) !== JSON.stringify(updates.mbus);
      updates = { ...updates, ...next };
      return { restart };
    },
    saveDisks: async ({ persistent = {} }) => {
      for (const [cid, wire] of Object.entries(persistent)) {
        const parsed = parseDiskHint(wire);
        if (parsed.ok) hints.set(cid, parsed.hint);
      }
    },
    persistentDisks: async () => new Map([...hints].map(([cid, hint]) => [cid, disk(cid, hint)])),
    addHint: async (cid, hint) => void hints.set(cid, hint),
    removeHint: async (cid) => void hints.delete(cid),
    origin: () => "made by a test",
  };
}

/** Says yes to everything and remembers what it was asked. */
function fakeSystem(told: FakeWorld["told"]): SystemPlatform {
  const note =
    (what: string, answer?: unknown) =>
    async (...args: readonly unknown[]): Promise<never> => {
      told.push({ what, args });
      return answer as never;
    };
  const percent = { percent: "1", inode_percent: "1" };
  return {
    setHostname: note("setHostname"),
    writeHosts: note("writeHosts"),
    setPassword: note("setPassword"),
    setAuthorizedKeys: note("setAuthorizedKeys"),
    createSshUser: note("createSshUser"),
    deleteSshUsers: note("deleteSshUsers"),
    hostPublicKey: note("hostPublicKey", "ssh-rsa AAAA host"),
    setNtp: note("setNtp"),
    setTrustedCertificates: note("setTrustedCertificates"),
    chown: note("chown"),
    setLogRotation: note("setLogRotation", false),
    powerOff: note("powerOff"),
    vitals: note("vitals", {
      cpu: { sys: "0.1", user: "0.2", wait: "0.0" },
      load: ["0.01", "0.02", "0.03"],
      mem: { kb: "1", percent: "1" },
      swap: { kb: "0", percent: "0" },
      uptime: { secs: 1 },
      disk: { system: percent },
    }),
  };
}
