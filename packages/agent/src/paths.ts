import { join } from "node:path";

/** Upstream's layout under a base directory, `/var/vcap` unless told otherwise. */
export interface Paths {
  readonly base: string;
  /** Files that do not move with the base (`/etc`, `/proc`, `/sys`, `/dev`) stand under this root; `/` but in tests. */
  readonly root: string;
  readonly settings: string;
  readonly updateSettings: string;
  readonly persistentDiskHints: string;
  readonly managedDisk: string;
  readonly spec: string;
  readonly agentState: string;
  readonly tasks: string;
  readonly boshDir: string;
  readonly boshLog: string;
  readonly instanceDir: string;
  readonly dnsRecords: string;
  readonly diskAssociations: string;
  readonly data: string;
  readonly dataTmp: string;
  readonly blobs: string;
  readonly sensitiveBlobs: string;
  readonly dynamicDisks: string;
  readonly store: string;
  readonly migrationTarget: string;
  readonly jobs: string;
  readonly sysLog: string;
  readonly stoppedMarker: string;
  /** A file of the system, such as `system("etc", "hosts")`. */
  system(...parts: string[]): string;
}

/** `settingsDir` differs when the settings are kept on a tmpfs (`env.bosh.agent.settings.tmpfs`). */
export function pathsUnder(base: string, root = "/", settingsDir = join(base, "bosh")): Paths {
  const bosh = join(base, "bosh");
  const data = join(base, "data");
  const instance = join(base, "instance");
  return {
    base,
    root,
    settings: join(settingsDir, "settings.json"),
    updateSettings: join(settingsDir, "update_settings.json"),
    persistentDiskHints: join(settingsDir, "persistent_disk_hints.json"),
    managedDisk: join(bosh, "managed_disk_settings.json"),
    spec: join(bosh, "spec.json"),
    agentState: join(bosh, "agent_state.json"),
    tasks: join(bosh, "tasks.json"),
    boshDir: bosh,
    boshLog: join(bosh, "log"),
    instanceDir: instance,
    dnsRecords: join(instance, "dns", "records.json"),
    diskAssociations: join(instance, "disks"),
    data,
    dataTmp: join(data, "tmp"),
    blobs: join(data, "blobs"),
    sensitiveBlobs: join(data, "sensitive_blobs"),
    dynamicDisks: join(data, "dynamic_disks"),
    store: join(base, "store"),
    migrationTarget: join(base, "store_migration_target"),
    jobs: join(base, "jobs"),
    sysLog: join(base, "sys", "log"),
    stoppedMarker: join(base, "monit", "stopped"),
    system: (...parts) => join(root, ...parts),
  };
}
