import * as v from "valibot";
import { integer, mapOf, text } from "../schema/json.ts";

/** Parameters of tasks. Endpoints write them, operations read them. */

const amount = v.pipe(v.string(), v.regex(/^\d{1,6}%?$/, "must be a number or a percentage"));
const instant = v.pipe(v.string(), v.isoTimestamp("must be a time as 2026-01-31T12:00:00Z"));

export const deployOptions = v.object({
  recreate: v.boolean(),
  recreate_persistent_disks: v.boolean(),
  recreate_vms_created_before: v.optional(instant),
  fix: v.boolean(),
  /** `*`, groups, or `group/index`; empty: drain all instances. */
  skip_drain: v.array(text("skip_drain")),
  canaries: v.optional(amount),
  max_in_flight: v.optional(amount),
  dry_run: v.boolean(),
  dry_run_steps: v.optional(v.boolean()),
  force_latest_variables: v.boolean(),
});
export type DeployOptions = v.InferOutput<typeof deployOptions>;

export const STATES = ["started", "stopped", "detached", "restart", "recreate"] as const;

/** `POST /deployments`: the manifest as posted, with the configs it was shown against. */
export const deployParams = v.object({
  manifest: v.string(),
  cloud_config_ids: v.array(integer(1)),
  runtime_config_ids: v.array(integer(1)),
  options: deployOptions,
});
/** `PUT jobs`: the stored manifest and configs, and a state for some or all instances. */
export const changeStateParams = v.object({
  state: v.object({
    group: v.optional(text("group")),
    /** Its id, not its index. */
    instance: v.optional(text("instance")),
    to: v.picklist(STATES),
  }),
  options: deployOptions,
});
export const updateDeploymentParams = v.union([deployParams, changeStateParams]);

export const updateInstanceParams = v.object({
  group: text("group"),
  /** Its id, not its index. */
  instance: text("instance"),
  action: v.picklist(["start", "stop", "restart", "recreate"]),
  hard: v.boolean(),
  skip_drain: v.boolean(),
  ignore_unresponsive_agent: v.boolean(),
});

export const deleteDeploymentParams = v.object({ force: v.boolean() });

/** A file in the uploads directory, which the task removes; or an address with its digests, if they are known. */
export const updateStemcellParams = v.union([
  v.object({ path: text("path"), fix: v.boolean() }),
  v.object({ location: text("location"), sha1: v.optional(text("sha1")), fix: v.boolean() }),
]);
export const deleteStemcellParams = v.object({
  name: text("name"),
  version: text("version"),
  force: v.boolean(),
});

/** Parameters as for stemcells. `rebase`: the release gets the next free version. */
export const updateReleaseParams = v.union([
  v.object({ path: text("path"), fix: v.boolean(), rebase: v.boolean() }),
  v.object({
    location: text("location"),
    sha1: v.optional(text("sha1")),
    fix: v.boolean(),
    rebase: v.boolean(),
  }),
]);
/** Without a version: all of them. */
export const deleteReleaseParams = v.object({
  name: text("name"),
  version: v.optional(text("version")),
  force: v.boolean(),
});

export const exportReleaseParams = v.object({
  deployment: text("deployment"),
  release: text("release"),
  version: text("version"),
  stemcell_os: text("stemcell_os"),
  stemcell_version: text("stemcell_version"),
  /** The digest is a SHA-256; else a SHA-1. */
  sha2: v.boolean(),
  /** Empty: all. */
  jobs: v.array(text("job")),
});

export const deleteArtifactsParams = v.object({
  remove_all: v.boolean(),
  keep_orphaned_disks: v.boolean(),
});

export const listVmsParams = v.object({ deployment: text("deployment") });

export const attachDiskParams = v.object({
  deployment: text("deployment"),
  group: text("group"),
  /** Its id, not its index. */
  instance: text("instance"),
  disk_cid: text("disk_cid"),
  disk_properties: v.optional(v.literal("copy")),
});
export const orphanDiskParams = v.object({ disk_cid: text("disk_cid") });
export const deleteOrphanDisksParams = v.object({ disk_cids: v.array(text("disk_cid")) });
export const scheduledOrphanedDiskCleanupParams = v.object({
  max_orphaned_age_in_days: v.pipe(v.number(), v.minValue(0)),
});
export const deleteOrphanNetworksParams = v.object({ names: v.array(text("name")) });
/** `cloud-check`: what is looked at. */
export const scanParams = v.object({ deployment: text("deployment") });
/** A problem's number and what is to be done about it; null: what is done by default. */
export const applyParams = v.object({
  deployment: text("deployment"),
  resolutions: v.pipe(
    mapOf(v.nullable(text("resolution"))),
    v.check((map) => Object.keys(map).every((key) => /^\d{1,15}$/.test(key)), "a problem has a number"),
  ),
  max_in_flight_overrides: v.optional(mapOf(amount)),
});
export const scanAndFixParams = v.object({
  deployment: text("deployment"),
  /** Their ids. */
  instances: v.array(text("instance")),
});
export const deleteVmParams = v.object({ vm_cid: text("vm_cid") });

export const fetchLogsParams = v.object({
  deployment: text("deployment"),
  /** Their ids. */
  instances: v.array(text("instance")),
  types: text("types"),
  filters: v.array(text("filter")),
});
const sshTarget = {
  deployment: text("deployment"),
  group: v.optional(text("group")),
  /** Ids or indexes; empty: all. */
  instances: v.array(text("instance")),
};
export const sshParams = v.union([
  v.object({ ...sshTarget, command: v.literal("setup"), user: text("user"), public_key: text("public_key") }),
  v.object({ ...sshTarget, command: v.literal("cleanup"), user_regex: text("user_regex") }),
]);

export const runErrandParams = v.object({
  deployment: text("deployment"),
  errand: text("errand"),
  keep_alive: v.boolean(),
  when_changed: v.boolean(),
  /** Empty: all. */
  instances: v.array(v.object({ group: text("group"), id: v.optional(text("id")) })),
});

/** `POST .../snapshots`: of one instance, by its id, or of all. */
export const createSnapshotParams = v.object({ deployment: text("deployment"), instance: text("instance") });
export const snapshotDeploymentParams = v.object({ deployment: text("deployment") });
export const deleteSnapshotParams = v.object({
  deployment: text("deployment"),
  snapshot_cid: text("snapshot_cid"),
});
export const deleteDeploymentSnapshotsParams = v.object({ deployment: text("deployment") });

/** `rotate_nats_ca`: another authority takes over on NATS; `when_due`: unless the one there is still lasts for long. */
export const renewCertificatesParams = v.object({
  rotate_nats_ca: v.optional(v.picklist(["now", "when_due"])),
});
