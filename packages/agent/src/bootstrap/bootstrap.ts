import { mkdir } from "node:fs/promises";
import { DeadlineExceeded } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import type { LinuxConfig } from "@slipway/protocol/agent/agent-config";
import type { Platform } from "../platform/platform.ts";
import {
  ephemeralHint,
  memoryRequest,
  ntpServers,
  passwordHash,
  rawEphemeralHints,
} from "../settings/effective.ts";
import type { SettingsFinder } from "../settings/find.ts";
import type { SettingsStore } from "../settings/store.ts";
import type { SetupState } from "../state/agent-state.ts";
import { makeDirectories } from "./directories.ts";
import { type PersistentParts, remountPersistent } from "./persistent.ts";
import type { StartupStep } from "./steps.ts";

export interface BootstrapParts extends Omit<PersistentParts, "disks" | "settings"> {
  readonly platform: Platform;
  readonly settings: SettingsStore;
  readonly finder: Pick<SettingsFinder, "sshKey">;
  readonly agentState: SetupState;
  readonly linux: LinuxConfig;
  /** Lets callers in, with the bus that the settings name now. Not again when it is the same. */
  readonly openTransport: () => Promise<void>;
  /** Links the disks that a Director named. */
  readonly linkDisks: (signal: AbortSignal) => Promise<void>;
  /** Finishes an apply that was cut off, and makes the directories of jobs that a reboot has taken. */
  readonly restoreJobs: () => Promise<void>;
}

const DEVICE_MS = 60_000;

/** The start of the agent in upstream's order, except that the agent listens once the mbus URL is known. */
export function bootstrapSteps(parts: BootstrapParts): readonly StartupStep[] {
  const { platform, settings, paths, waiting, log } = parts;
  const { system, networks, disks, layout } = platform;
  const current = () => settings.current();
  // It may listen on an address that the networks will bring.
  const tryOpen = () =>
    parts.openTransport().catch((error) => log.warn(`not reachable yet: ${messageTrail(error)}`));
  return [
    {
      name: "stored settings",
      run: async () => {
        if (await settings.loadStored()) await tryOpen();
      },
    },
    {
      name: "settings",
      once: true,
      run: async (signal) => {
        await settings.load(signal);
        await tryOpen();
      },
    },
    {
      name: "users",
      run: async (signal) => {
        const { authorized_keys: own, keep_root_password: keep } = current().env?.bosh ?? {};
        const fromIaas = await parts.finder.sshKey(signal);
        const keys = [...(own ?? []), ...(fromIaas === undefined ? [] : [fromIaas])];
        if (keys.length > 0) await system.setAuthorizedKeys("vcap", keys);
        const hash = passwordHash(current());
        if (!keep) await system.setPassword("root", hash);
        await system.setPassword("vcap", hash);
      },
    },
    {
      name: "host name",
      run: async () => {
        if (await parts.agentState.hostsConfigured()) return;
        const id = current().agent_id;
        await system.setHostname(id);
        await system.writeHosts([], id);
        await parts.agentState.setHostsConfigured();
      },
    },
    {
      name: "networks",
      run: async (signal) => {
        waiting.on("the networks to come up");
        await networks.configure(current().networks ?? {}, signal);
      },
    },
    { name: "message bus", once: true, run: () => parts.openTransport() },
    {
      name: "ephemeral disk",
      run: async (signal) => {
        // Containers: the directory is all there is, and upstream makes it so.
        if (parts.linux.SkipDiskSetup) {
          await mkdir(paths.data, { recursive: true, mode: 0o750 });
          return;
        }
        waiting.on("the ephemeral disk");
        await disks.setUpRawEphemeral(rawEphemeralHints(current()));
        const deadline = new AbortController();
        const cancel = parts.clock.after(DEVICE_MS, () =>
          deadline.abort(DeadlineExceeded({ what: "finding the ephemeral disk", ms: DEVICE_MS })),
        );
        const request = {
          hint: ephemeralHint(current()),
          target: paths.data,
          swapMib: current().env?.bosh?.swap_size ?? undefined,
          agentId: current().agent_id,
          signal: AbortSignal.any([signal, deadline.signal]),
        };
        await disks.setUpEphemeral(request).finally(cancel);
      },
    },
    { name: "root file system", run: () => disks.growRoot() },
    { name: "system directories", run: () => layout.systemDirectories() },
    { name: "time", run: () => system.setNtp(ntpServers(current())) },
    { name: "logging", run: () => layout.startLogging() },
    { name: "directories", run: () => makeDirectories(paths, (path) => system.chown(path, "root:vcap")) },
    { name: "directories in memory", run: () => layout.memory(memoryRequest(current())) },
    { name: "temporary directories", run: () => layout.temporary() },
    { name: "persistent disk", run: (signal) => remountPersistent({ ...parts, disks }, signal) },
    { name: "jobs", run: () => parts.restoreJobs() },
    {
      name: "disk associations",
      run: async (signal) => {
        // Device names change with a reboot. A disk that is gone is for the Director to notice; jobs find no link.
        await parts.linkDisks(signal).catch((error) => {
          signal.throwIfAborted();
          log.error(`disk associations: ${messageTrail(error)}`);
          if (parts.attention.problem() === undefined) parts.attention.report(messageTrail(error));
        });
      },
    },
  ];
}
