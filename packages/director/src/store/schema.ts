import type { FoundProblem, ProblemType } from "@slipway/engine/model/problems";
import type { AppliedSpec, InstanceState } from "@slipway/engine/model/records";
import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { TaskState, TaskType } from "@slipway/protocol/director/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { ColumnType, Generated, Kysely, Transaction } from "kysely";
import type { Id, Json, Kept, MaybeJson, MaybeTime, Time, TimeNow } from "./columns.ts";
import type { NameTables } from "./schema-names.ts";
import type { NetworkTables } from "./schema-networks.ts";
import type { ReleaseTables } from "./schema-releases.ts";
import type { Sealed } from "./sealed.ts";

/** The tables of `migrations`, as types. */
export interface Tables extends NameTables, NetworkTables, ReleaseTables {
  director_attributes: { name: string; value: string };
  identities: { name: string; value: string; noted_at: TimeNow };
  tasks: {
    id: Id;
    type: TaskType;
    description: string;
    state: Generated<TaskState>;
    username: string;
    deployment_name: string | null;
    context_id: Generated<string>;
    trace_parent: string | null;
    /** Teams of its deployment when the task was requested. */
    teams: Generated<string[]>;
    params_sealed: Kept<JsonObject>;
    result: string | null;
    created_at: TimeNow;
    started_at: MaybeTime;
    finished_at: MaybeTime;
    attempts: Generated<number>;
    lease_owner: string | null;
    lease_until: MaybeTime;
  };
  task_output: { task_id: number; type: string; start: number; data: Buffer };
  scheduled_turns: { job: string; schedule: string; turn: Time };
  locks: { name: string; task_id: number; owner: string; acquired_at: TimeNow; expires_at: Time };
  events: {
    id: Id;
    parent_id: number | null;
    at: TimeNow;
    username: string;
    action: string;
    object_type: string;
    object_name: string | null;
    error: string | null;
    task_id: number | null;
    deployment: string | null;
    instance: string | null;
    context: Json<JsonObject>;
  };
  configs: {
    id: Id;
    type: string;
    name: string;
    content_sealed: Kept<string>;
    team: string | null;
    created_at: TimeNow;
    deleted: Generated<boolean>;
  };
  deployments: {
    id: Id;
    name: string;
    canonical: string;
    manifest_sealed: ColumnType<string | null, Sealed | null, Sealed | null>;
    teams: Generated<string[]>;
    created_at: TimeNow;
    /** Restore since which the cloud of the deployment was not looked at. */
    restored: Generated<number | null>;
  };
  restores: {
    id: Id;
    backup: string;
    taken_at: Time;
    restored_at: TimeNow;
    started_at: MaybeTime;
  };
  deployment_configs: { deployment_id: number; config_id: number };
  stemcells: {
    id: Id;
    name: string;
    version: string;
    operating_system: string;
    cid: string;
    digest: string;
    cpi: string;
    api_version: number;
    created_at: TimeNow;
    /** The task whose upload made it. */
    task_id: number | null;
    deleting_task: Generated<number | null>;
    deleting_since: MaybeTime;
  };
  stemcell_uploads: { name: string; version: string; cpi: string };
  deployment_stemcells: { deployment_id: number; stemcell_id: number };
  instances: {
    id: Id;
    deployment_id: number;
    uuid: string;
    group_name: string;
    index: number;
    az: string | null;
    state: InstanceState;
    bootstrap: Generated<boolean>;
    ignore: Generated<boolean>;
    errand: Generated<boolean>;
    resurrection_paused: Generated<boolean>;
    compilation: Generated<boolean>;
    update_completed: Generated<boolean>;
    spec: MaybeJson<AppliedSpec>;
    variable_set_id: number | null;
  };
  resurrections: {
    instance_id: number;
    task_id: number;
    attempts: Generated<number>;
    begun: Generated<boolean>;
    noted_at: TimeNow;
  };
  vms: {
    id: Id;
    instance_id: number;
    cid: string;
    agent_id: string;
    active: Generated<boolean>;
    cpi: string;
    created_at: Time;
    stemcell_name: string;
    stemcell_version: string;
    stemcell_api_version: number;
    api_version: ApiVersion;
    channel: "user-data" | "registry";
    env_sealed: Kept<JsonObject>;
    cloud_properties: Json<JsonObject>;
    networks: Json<Networks>;
    disks: Json<Disks>;
    agent_url: string;
    certificate_until: MaybeTime;
    agent_env: string | null;
    ready: Generated<boolean>;
    nats_trust: Generated<string | null>;
    dns_version: Generated<number>;
  };
  orphaned_vms: {
    id: Id;
    cid: string;
    cpi: string;
    az: string | null;
    stemcell_api_version: number;
    deployment_name: string;
    instance_name: string;
    orphaned_at: TimeNow;
  };
  persistent_disks: {
    id: Id;
    instance_id: number;
    cid: string;
    name: Generated<string>;
    size: number;
    cloud_properties: Json<JsonObject>;
    cpi: string;
    active: boolean;
    attached_to: string | null;
    hint: MaybeJson<Exclude<DiskHintWire, null>>;
    mounted: Generated<boolean>;
    created_at: MaybeTime;
  };
  orphan_disks: {
    id: Id;
    cid: string;
    size: number;
    cloud_properties: Json<JsonObject>;
    cpi: string;
    az: string | null;
    deployment_name: string;
    instance_name: string;
    orphaned_at: TimeNow;
    deleting_task: Generated<number | null>;
    deleting_since: MaybeTime;
  };
  snapshots: {
    id: Id;
    cid: string;
    cpi: string;
    disk_cid: string;
    clean: boolean;
    created_at: Time;
    task_id: number;
  };
  ip_addresses: {
    address: string;
    network_name: string;
    static: boolean;
    instance_id: number | null;
    orphaned_vm_id: number | null;
    stray_id: number | null;
    task_id: number | null;
  };
  intents: {
    task_id: number;
    number: number;
    scope: string;
    instance_uuid: string | null;
    step: string;
    version: number;
    intent_sealed: Kept<JsonObject>;
    opened_at: TimeNow;
    restored: Generated<boolean>;
    settling_refused: Generated<boolean>;
  };
  problems: {
    id: Id;
    deployment_id: number;
    type: ProblemType;
    resource: string;
    state: Generated<"open" | "closed" | "resolved">;
    data: Json<FoundProblem>;
    times_seen: Generated<number>;
    created_at: TimeNow;
    last_seen_at: TimeNow;
  };
  variables: {
    id: string;
    name: string;
    version: number;
    type: string;
    value_sealed: Kept<unknown>;
    options_sealed: Kept<unknown>;
    request_id: string;
    created_at: TimeNow;
  };
  variable_sets: {
    id: Id;
    deployment_id: number;
    task_id: number;
    deployed: Generated<boolean>;
    created_at: TimeNow;
  };
  variable_set_entries: { set_id: number; name: string; type: string | null; variable_id: string };
  strays: {
    id: Id;
    kind: "vm" | "disk" | "stemcell" | "snapshot" | "network";
    cpi: string;
    request_id: string;
    about: string;
    why: string;
    noted_at: TimeNow;
  };
}

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;
