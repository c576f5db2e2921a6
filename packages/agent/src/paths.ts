import { join } from "node:path";

/** Upstream's layout under a base directory, by default `/var/vcap`. */
export interface Paths {
  readonly base: string;
  /** Files that do not move with the base (`/etc`, `/proc`, `/sys`, `/dev`) stand under this root; `/` but in tests. */
  readonly root: string;
  readonly settings: string;
  readonly updateSettings: string;
  readonly persistentDiskHints: string;
  readonly managedDisk: string;
  /** The disk that the last finished migration has filled. */
  readonly migratedDisk: string;
  readonly spec: string;
  /** The spec of an apply that has begun to switch links; gone when it has ended. */
  readonly applying: string;
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
  readonly packages: string;
  /**
   * Directory that the links in `jobs` point into. Has every unpacked version of every job; `dataPackages` has the
   * packages.
   */
  readonly dataJobs: string;
  readonly dataPackages: string;
  readonly compile: string;
  readonly sysRun: string;
  readonly sysLog: string;
  readonly stoppedMarker: string;
  /** The monit files of the jobs, as `start` writes them. */
  readonly monitJobs: string;
  readonly supervisorState: string;
  /** User and password of monit's HTTP interface. */
  readonly monitUser: string;
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
    migratedDisk: join(bosh, "migrated_disk"),
    spec: join(bosh, "spec.json"),
    applying: join(bosh, "applying.json"),
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
    packages: join(base, "packages"),
    dataJobs: join(data, "jobs"),
    dataPackages: join(data, "packages"),
    compile: join(data, "compile"),
    sysRun: join(base, "sys", "run"),
    sysLog: join(base, "sys", "log"),
    stoppedMarker: join(base, "monit", "stopped"),
    monitJobs: join(base, "monit", "job"),
    supervisorState: join(base, "monit", "supervisor.json"),
    monitUser: join(base, "monit", "monit.user"),
    system: (...parts) => join(root, ...parts),
  };
}
