import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import type {
  AppliedSpec,
  DiskRecord,
  InstanceRecord,
  InstanceState,
  IpRecord,
  VmRecord,
} from "@slipway/engine/model/records";
import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { AgentId, DiskCid, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import { type RawBuilder, sql } from "kysely";
import type { Db } from "./schema.ts";

interface VmRow {
  readonly id: number;
  readonly cid: VmCid;
  readonly agent_id: AgentId;
  readonly active: boolean;
  readonly cpi: string;
  readonly created_ms: number;
  readonly stemcell_name: string;
  readonly stemcell_version: string;
  readonly stemcell_api_version: number;
  readonly api_version: ApiVersion;
  readonly channel: "user-data" | "registry";
  readonly cloud_properties: JsonObject;
  readonly networks: Networks;
  readonly disks: Disks;
  readonly agent_url: string;
  readonly nats_trust: string | null;
  readonly until_ms: number | null;
  readonly ready: boolean;
  readonly agent_env: string | null;
}

interface DiskRow {
  readonly id: number;
  readonly cid: DiskCid;
  readonly name: string;
  readonly size: number;
  readonly cloud_properties: JsonObject;
  readonly cpi: string;
  readonly active: boolean;
  readonly attached_to: VmCid | null;
  readonly hint: DiskHintWire | null;
  readonly mounted: boolean;
  readonly created_ms: number | null;
  readonly snapshot_task: number | null;
}

interface InstanceRow {
  readonly id: number;
  readonly uuid: InstanceUuid;
  readonly group_name: GroupName;
  readonly index: number;
  readonly az: string | null;
  readonly state: InstanceState;
  readonly bootstrap: boolean;
  readonly ignore: boolean;
  readonly compilation: boolean;
  readonly errand: boolean;
  readonly update_completed: boolean;
  readonly spec: AppliedSpec | null;
  readonly vms: readonly VmRow[] | null;
  /** Envs in the order of `vms`. */
  readonly envs_sealed: readonly JsonObject[];
  readonly disks: readonly DiskRow[] | null;
  readonly ips: readonly IpRecord[] | null;
}

/** The instances that match, with all they hold, in one round trip however many there are. */
export async function readInstances(db: Db, where: RawBuilder<unknown>): Promise<InstanceRecord[]> {
  const { rows } = await sql<InstanceRow>`
    select i.id, i.uuid, i.group_name, i.index, i.az, i.state, i.bootstrap, i.ignore, i.compilation,
      i.errand, i.update_completed, i.spec,
      (select json_agg(json_build_object(
          'id', v.id, 'cid', v.cid, 'agent_id', v.agent_id, 'active', v.active, 'cpi', v.cpi,
          'created_ms', (extract(epoch from v.created_at) * 1000)::float8,
          'stemcell_name', v.stemcell_name, 'stemcell_version', v.stemcell_version,
          'stemcell_api_version', v.stemcell_api_version, 'api_version', v.api_version, 'channel', v.channel,
          'cloud_properties', v.cloud_properties, 'networks', v.networks, 'disks', v.disks,
          'agent_url', v.agent_url, 'until_ms', (extract(epoch from v.certificate_until) * 1000)::float8,
          'ready', v.ready, 'agent_env', v.agent_env, 'nats_trust', v.nats_trust) order by v.id)
        from vms v where v.instance_id = i.id) as vms,
      array(select v.env_sealed from vms v where v.instance_id = i.id order by v.id) as envs_sealed,
      (select json_agg(json_build_object(
          'id', d.id, 'cid', d.cid, 'name', d.name, 'size', d.size, 'cloud_properties', d.cloud_properties, 'cpi', d.cpi,
          'active', d.active, 'attached_to', d.attached_to, 'hint', d.hint, 'mounted', d.mounted,
          'created_ms', (extract(epoch from d.created_at) * 1000)::float8,
          'snapshot_task', (select max(s.task_id) from snapshots s where s.disk_cid = d.cid and s.clean)) order by d.id)
        from persistent_disks d where d.instance_id = i.id) as disks,
      (select json_agg(json_build_object(
          'address', p.address, 'network', p.network_name, 'static', p.static) order by p.network_name, p.address)
        from ip_addresses p where p.instance_id = i.id) as ips
    from instances i
    where ${where}
    order by i.group_name, i.index`.execute(db);
  return rows.map(toInstance);
}

const toInstance = (row: InstanceRow): InstanceRecord => ({
  id: row.id,
  uuid: row.uuid,
  group: row.group_name,
  index: row.index,
  az: row.az,
  state: row.state,
  bootstrap: row.bootstrap,
  ignore: row.ignore,
  ...(row.compilation && { compilation: true }),
  ...(row.errand && { errand: true }),
  updateCompleted: row.update_completed,
  spec: row.spec,
  vms: row.vms?.map((vm, at) => toVm(vm, row.envs_sealed[at] ?? {})) ?? [],
  disks: row.disks?.map(toDisk) ?? [],
  ips: row.ips ?? [],
});

const toVm = (row: VmRow, env: JsonObject): VmRecord => ({
  id: row.id,
  cid: row.cid,
  agentId: row.agent_id,
  active: row.active,
  cpi: row.cpi,
  createdAt: row.created_ms,
  stemcell: {
    name: row.stemcell_name,
    version: row.stemcell_version,
    apiVersion: row.stemcell_api_version,
  },
  apiVersion: row.api_version,
  channel: row.channel,
  env,
  cloudProperties: row.cloud_properties,
  networks: row.networks,
  disks: row.disks,
  agentUrl: row.agent_url,
  certificateUntil: row.until_ms,
  ...(row.nats_trust !== null && { natsTrust: row.nats_trust }),
  ready: row.ready,
  ...(row.agent_env !== null && { agentEnv: row.agent_env }),
});

const toDisk = (row: DiskRow): DiskRecord => ({
  id: row.id,
  cid: row.cid,
  ...(row.name !== "" && { name: row.name }),
  size: row.size,
  cloudProperties: row.cloud_properties,
  cpi: row.cpi,
  active: row.active,
  attachedTo: row.attached_to,
  hint: row.hint,
  mounted: row.mounted,
  ...(row.created_ms !== null && { createdAt: row.created_ms }),
  ...(row.snapshot_task !== null && { snapshotTask: row.snapshot_task }),
});
