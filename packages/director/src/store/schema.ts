import type { FoundProblem, ProblemType } from "@slipway/engine/model/problems";
import type { AppliedSpec, InstanceState } from "@slipway/engine/model/records";
import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { TaskState, TaskType } from "@slipway/protocol/director/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { ColumnType, Generated, JSONColumnType, Kysely, Transaction } from "kysely";
import type { Sealed } from "./sealed.ts";

/** The tables of `migrations`, as types. Integers come as numbers: see `open.ts`. */
type Id = Generated<number>;
type Time = ColumnType<Date, Date | string, Date | string>;
type TimeNow = ColumnType<Date, Date | string | undefined, Date | string>;
type MaybeTime = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
type Json<T extends object> = JSONColumnType<T>;
/** Kept encrypted: see `sealed.ts`. */
type Kept<T> = ColumnType<T, Sealed, Sealed>;
type MaybeJson<T extends object | string> = ColumnType<T | null, string | null | undefined, string | null>;

export interface Tables {
  director_attributes: { name: string; value: string };
  tasks: {
    id: Id;
    type: TaskType;
    description: string;
    state: Generated<TaskState>;
    username: string;
    deployment_name: string | null;
    context_id: Generated<string>;
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
    content: string;
    team: string | null;
    created_at: TimeNow;
    deleted: Generated<boolean>;
  };
  deployments: {
    id: Id;
    name: string;
    canonical: string;
    manifest_sealed: ColumnType<string | null, Sealed | null, Sealed | null>;
    created_at: TimeNow;
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
    update_completed: Generated<boolean>;
    spec: MaybeJson<AppliedSpec>;
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
    ready: Generated<boolean>;
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
  strays: {
    id: Id;
    kind: "vm" | "disk" | "stemcell";
    cpi: string;
    request_id: string;
    about: string;
    why: string;
    noted_at: TimeNow;
  };
}

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;
