import { defineError } from "@slipway/kernel/errors";

/** Every failure the store names. DIS-00x and 01x the embedded server, 02x the connection, 03x writes, 04x rules. */

export const StateDirInUse = defineError<{ dir: string; holder: string }>({
  code: "DIS-001",
  kind: "operator",
  message: (p) => `another Director works in the state directory ${p.dir}: ${p.holder}`,
  next: "Stop the other Director, or give this one its own `state_dir`.",
});

export const ServerMissing = defineError<{ name: string; from: string }>({
  code: "DIS-002",
  kind: "operator",
  message: (p) =>
    `the PostgreSQL server of this platform (${p.name}) is not installed; looked from ${p.from}`,
  next: "Install the package again without leaving out optional dependencies, or set `database.url` to a PostgreSQL server.",
});

export const Unreachable = defineError<{ dir: string; blocker: string; user: string }>({
  code: "DIS-003",
  kind: "operator",
  message: (p) =>
    `the database server runs as the user ${p.user}, who cannot reach ${p.dir}: ${p.blocker} lets nobody else through`,
  next: "Give a `state_dir` outside of private directories (as root the default is /var/lib/slipway/director), or let others pass through that directory (chmod o+x).",
});

export const NoServerUser = defineError<{ tried: string }>({
  code: "DIS-004",
  kind: "operator",
  message: (p) => `PostgreSQL refuses to run as root, and no user it could run as exists (tried ${p.tried})`,
  next: "Run the Director as an ordinary user, create a system user `postgres`, or set `database.url` to a PostgreSQL server.",
});

export const NotADatabase = defineError<{ dir: string }>({
  code: "DIS-005",
  kind: "operator",
  message: (p) => `${p.dir} is there but holds no database; nothing in it was touched`,
  next: "Move it away, or restore the whole directory from a backup, and start again.",
});

export const WrongOwner = defineError<{ dir: string; owner: number; self: number }>({
  code: "DIS-006",
  kind: "operator",
  message: (p) => `the directory ${p.dir} belongs to user id ${p.owner}, but the Director runs as ${p.self}`,
  next: "Run the Director as the user it was first run as, or give the whole state directory to the new one (chown -R).",
});

export const OtherMajor = defineError<{ dir: string; has: string; needs: string }>({
  code: "DIS-007",
  kind: "operator",
  message: (p) =>
    `the database in ${p.dir} was made by PostgreSQL ${p.has}; this Director brings ${p.needs}, which cannot read it`,
  next: "Run the Director version that made it, or move the data with the tools of both PostgreSQL versions.",
});

export const InitFailed = defineError<{ dir: string; said: string }>({
  code: "DIS-008",
  kind: "outside",
  message: (p) => `a new database could not be made in ${p.dir}: ${p.said}`,
  next: "Look at what initdb says. Nothing half-made is kept: the next start tries again.",
});

export const StartFailed = defineError<{ log: string; said: string }>({
  code: "DIS-009",
  kind: "outside",
  message: (p) => `the database server did not come up: ${p.said}`,
  next: "Look into server.log in the `database` directory of the state directory.",
});

export const DiskFull = defineError<{ where: string }>({
  code: "DIS-010",
  kind: "operator",
  message: (p) => `there is no space left for the database in ${p.where}`,
  next: "Free disk space. Nothing that was acknowledged is lost, and tasks go on by themselves.",
});

export const ServerDied = defineError<{ said: string }>({
  code: "DIS-011",
  kind: "outside",
  message: (p) => `the database server ended (${p.said}) and is started again`,
  next: "Nothing, if it happened once. Otherwise look into server.log in the `database` directory of the state directory.",
});

export const WillNotStop = defineError<{ pid: number }>({
  code: "DIS-012",
  kind: "outside",
  message: (p) => `the database server (process ${p.pid}) does not end`,
  next: "See what it waits for. The next Director on this directory finds and adopts it.",
});

export const AccessFailed = defineError<{ dir: string; said: string }>({
  code: "DIS-015",
  kind: "outside",
  message: (p) => `the Director's role of the database in ${p.dir} could not be set up: ${p.said}`,
  next: "Fix what PostgreSQL says, and start again. No data was changed.",
});

export const StateUnusable = defineError<{ dir: string; why: string }>({
  code: "DIS-013",
  kind: "operator",
  message: (p) => `the state directory ${p.dir} cannot be used: ${p.why}`,
  next: "Make sure that it exists or can be made, and that the Director's user owns it.",
});

export const ServerElsewhere = defineError<{ dir: string }>({
  code: "DIS-014",
  kind: "operator",
  message: (p) => `the database in ${p.dir} is in use by a server of another pid namespace`,
  next: "A Director in a container was killed and its database runs on there. Stop the container, then start the Director again.",
});

export const StoreLost = defineError<{ doing: string }>({
  code: "DIS-020",
  kind: "outside",
  status: 503,
  message: (p) => `the connection to the database was lost while ${p.doing}`,
  next: "Nothing, if the database server is back in a moment: tasks then go on by themselves. Otherwise see that it runs and is reachable.",
});

export const StoreFull = defineError<{ why: string }>({
  code: "DIS-021",
  kind: "outside",
  status: 503,
  message: (p) => `the database server has run out of something: ${p.why}`,
  next: "Free disk space or memory on the database server. Nothing that was acknowledged is lost, and tasks go on by themselves.",
});

export const DatabaseNewer = defineError<{ has: number; knows: number }>({
  code: "DIS-022",
  kind: "operator",
  message: (p) =>
    `the database is at version ${p.has}, made by a newer Director; this one knows up to ${p.knows}`,
  next: "Run the newer version again, or restore a backup from before the upgrade.",
});

export const MigrationFailed = defineError<{ id: number; name: string }>({
  code: "DIS-023",
  kind: "outside",
  message: (p) => `the database could not be brought to version ${p.id} (${p.name}); it is as before`,
  next: "Look at the cause. The next start tries again.",
});

export const StoreRefused = defineError<{ why: string }>({
  code: "DIS-024",
  kind: "operator",
  message: (p) => `the database server does not let us in: ${p.why}`,
  next: "Check `database.url`: user, password, and that the database exists.",
});

export const IpTaken = defineError<{ address: string; holder: string; wanted: string }>({
  code: "DIS-040",
  kind: "operator",
  message: (p) => `the address ${p.address} for ${p.wanted} is taken by ${p.holder}`,
  next: "Deploy again to be given another address, or change the static address.",
});

export const DiskInUse = defineError<{ cid: string; instance: string; deployment: string }>({
  code: "DIS-041",
  kind: "operator",
  message: (p) => `the disk ${p.cid} belongs to the instance ${p.instance} of the deployment ${p.deployment}`,
  next: "Orphan it there first (bosh orphan-disk), then attach it here.",
});

export const DiskBeingDeleted = defineError<{ cid: string; task: number; since: string }>({
  code: "DIS-054",
  kind: "operator",
  message: (p) => `task ${p.task} has been deleting the disk ${p.cid} since ${p.since}`,
  next: "Attach another disk. `bosh task {task}` shows what became of the deletion; if the task has ended, `bosh delete-disk {cid}` completes it.",
});

export const DiskNotOrphaned = defineError<{ cid: string }>({
  code: "DIS-055",
  kind: "operator",
  message: (p) => `the disk ${p.cid} was deleted or given to an instance meanwhile`,
  next: "`bosh disks --orphaned` lists the disks that can be attached.",
});

export const NameTaken = defineError<{ name: string; canonical: string; holder: string }>({
  code: "DIS-042",
  kind: "operator",
  number: 190009,
  message: (p) =>
    `Invalid deployment name '${p.name}': the canonical name '${p.canonical}' is taken by the deployment '${p.holder}'`,
  next: "Give the deployment a name that differs in more than case, underscores and dots.",
});

export const StemcellInUse = defineError<{ name: string; version: string; deployments: readonly string[] }>({
  code: "DIS-043",
  kind: "operator",
  number: 50004,
  message: (p) => `Stemcell '${p.name}/${p.version}' is still in use by: ${p.deployments.join(", ")}`,
  next: "Deploy these with another stemcell, or delete them, and run `bosh delete-stemcell {name}/{version}` again.",
});

export const StemcellBeingDeleted = defineError<{ name: string; version: string; task: number }>({
  code: "DIS-056",
  kind: "operator",
  number: 50003,
  message: (p) => `task ${p.task} is deleting the stemcell '${p.name}/${p.version}'`,
  next: "Upload the stemcell again after task {task}, or deploy with another one.",
});

export const StemcellGone = defineError<Record<never, never>>({
  code: "DIS-057",
  kind: "operator",
  number: 50003,
  message: () => "a stemcell of the deployment was deleted while the deploy was planned",
  next: "Run `bosh deploy` again: if the manifest names the stemcell, the error names it too. Then upload it again.",
});

export const ReleaseGone = defineError<{ name: string; version: string }>({
  code: "DIS-058",
  kind: "operator",
  number: 30006,
  message: (p) => `the release '${p.name}/${p.version}' was deleted while the deploy was planned`,
  next: "Upload the release again, or name another version in the manifest, and run `bosh deploy` again.",
});

export const PackageReplaced = defineError<{ package: string }>({
  code: "DIS-059",
  kind: "operator",
  message: (p) =>
    `the release of package '${p.package}' was uploaded again with \`--fix\` while the package was compiled; what was compiled is not kept`,
  next: "Run the command again: the package is compiled from what was uploaded.",
});

export const JobUnreadable = defineError<{ job: string; problems: readonly string[] }>({
  code: "DIS-044",
  kind: "bug",
  message: (p) => `what is kept of the job '${p.job}' cannot be read: ${p.problems.join("; ")}`,
  next: "It was written by another version of the Director. Upload the release again with --fix.",
});

export const BlobWithoutOwner = defineError<{ id: string }>({
  code: "DIS-045",
  kind: "outside",
  message: (p) => `the package that had the blob ${p.id} was deleted meanwhile`,
  next: "Upload the release again.",
});

export const ReleaseInUse = defineError<{ name: string; deployments: readonly string[] }>({
  code: "DIS-046",
  kind: "operator",
  number: 30007,
  message: (p) => `Release '${p.name}' is still in use by: ${p.deployments.join(", ")}`,
  next: "Deploy these without it, or delete them. `bosh delete-release {name}/VERSION` deletes a version that nobody uses.",
});

export const ReleaseVersionInUse = defineError<{
  name: string;
  version: string;
  deployments: readonly string[];
}>({
  code: "DIS-047",
  kind: "operator",
  number: 30008,
  message: (p) => `ReleaseVersion '${p.name}/${p.version}' is still in use by: ${p.deployments.join(", ")}`,
  next: "Deploy these with another version, or delete them, and run `bosh delete-release {name}/{version}` again.",
});

export const OtherUuid = defineError<{ uuid: string; wanted: string }>({
  code: "DIS-051",
  kind: "operator",
  message: (p) =>
    `the Director of this database has the uuid ${p.uuid}, and not ${p.wanted}, which the configuration names`,
  next: "Take `uuid` out of the configuration, or name another database. VMs and scopes know the Director by its uuid: it stays.",
});

export const NetworkInUse = defineError<{ network: string; deployments: readonly string[] }>({
  code: "DIS-052",
  kind: "operator",
  number: 160011,
  message: (p) =>
    `Deleting unorphaned network is not supported: ${p.network}${p.deployments.length === 0 ? "" : ` (used by ${p.deployments.join(", ")})`}`,
  next: "A network is orphaned when the last deployment leaves it: deploy these without it, or delete them.",
});

export const NoSuchNetwork = defineError<{ network: string }>({
  code: "DIS-053",
  kind: "operator",
  number: 16012,
  message: (p) => `Deleting non-existing network ${p.network}`,
  next: "`bosh networks --orphaned` lists those that can be deleted.",
});

export const OtherKey = defineError<Record<never, never>>({
  code: "DIS-070",
  kind: "operator",
  message: () =>
    "the database was encrypted with another key than the `secrets.key` of this state directory; nothing was changed",
  next: "Restore `secrets.key` from a backup, or name another database in `database.url`. Directors that share a database have the same `secrets.key`, `agent-secret` and `pki` in their state directories.",
});
