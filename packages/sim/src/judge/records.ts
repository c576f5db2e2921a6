import type pg from "pg";
import { simSealer } from "../director/sim-sealer.ts";

/** Rows of the Director's database that say what exists, read by SQL of the judge's own. */
export interface Records {
  readonly vms: readonly {
    readonly cid: string;
    readonly instance: string;
    readonly active: boolean;
    readonly addresses: readonly string[];
  }[];
  readonly disks: readonly {
    readonly cid: string;
    readonly instance: string;
    readonly name: string;
    readonly size: number;
    readonly active: boolean;
    readonly mounted: boolean;
    readonly attachedTo: string | null;
  }[];
  readonly orphanedVms: readonly string[];
  readonly orphanDisks: readonly string[];
  readonly stemcells: readonly { readonly cid: string; readonly name: string }[];
  readonly snapshots: readonly { readonly cid: string; readonly disk: string }[];
  readonly subnets: readonly string[];
  readonly strays: readonly { readonly kind: string; readonly about: string }[];
  readonly intents: readonly { readonly step: string; readonly text: string }[];
  readonly addresses: readonly {
    readonly address: string;
    readonly instance: string | null;
    readonly task: string | null;
  }[];
  readonly locks: readonly string[];
  /** Cids that a task has claimed in order to delete them. They may or may not exist. */
  readonly claimed: readonly string[];
  readonly tasks: readonly TaskRow[];
  /** Blobs that jobs, packages and compiled packages name. */
  readonly blobs: readonly string[];
  readonly instances: readonly {
    readonly deployment: string;
    readonly group: string;
    readonly uuid: string;
    readonly index: number;
    readonly state: string;
    readonly completed: boolean;
    readonly compilation: boolean;
    readonly ignore: boolean;
  }[];
}

export interface TaskRow {
  readonly id: number;
  readonly type: string;
  readonly state: string;
  readonly result: string | null;
}

const INSTANCE = "d.name || '/' || i.group_name || '/' || i.uuid";

/** One statement: the judge sees one moment. */
const READ = `select json_build_object(
  'vms', (select coalesce(json_agg(json_build_object('cid', v.cid, 'instance', ${INSTANCE}, 'active', v.active,
      'addresses', (select coalesce(json_agg(n.value ->> 'ip'), '[]') from jsonb_each(v.networks::jsonb) n
        where n.value ->> 'ip' is not null and coalesce(n.value ->> 'type', '') <> 'vip')) order by v.cid), '[]')
    from vms v join instances i on i.id = v.instance_id join deployments d on d.id = i.deployment_id),
  'disks', (select coalesce(json_agg(json_build_object('cid', p.cid, 'instance', ${INSTANCE}, 'name', p.name, 'size', p.size,
      'active', p.active, 'mounted', p.mounted, 'attachedTo', p.attached_to) order by p.cid), '[]')
    from persistent_disks p join instances i on i.id = p.instance_id join deployments d on d.id = i.deployment_id),
  'orphanedVms', (select coalesce(json_agg(cid order by cid), '[]') from orphaned_vms),
  'orphanDisks', (select coalesce(json_agg(cid order by cid), '[]') from orphan_disks),
  'stemcells', (select coalesce(json_agg(json_build_object('cid', cid, 'name', name || '/' || version) order by cid), '[]') from stemcells),
  'snapshots', (select coalesce(json_agg(json_build_object('cid', cid, 'disk', disk_cid) order by cid), '[]') from snapshots),
  'subnets', (select coalesce(json_agg(cid), '[]') from subnets),
  'strays', (select coalesce(json_agg(json_build_object('kind', kind, 'about', about)), '[]') from strays),
  'intents', (select coalesce(json_agg(json_build_object('step', step, 'text', intent_sealed)), '[]') from intents),
  'addresses', (select coalesce(json_agg(json_build_object('address', a.address, 'task', t.state,
      'instance', (select ${INSTANCE} from instances i join deployments d on d.id = i.deployment_id
        where i.id = a.instance_id))), '[]')
    from ip_addresses a left join tasks t on t.id = a.task_id),
  'claimed', (select coalesce(json_agg(r ->> 'cid'), '[]') from (
      select to_jsonb(o) as r from orphan_disks o union all select to_jsonb(o) from stemcells o
      union all select to_jsonb(o) from snapshots o union all select to_jsonb(o) from orphaned_vms o
      union all select to_jsonb(o) from subnets o) x
    where r ->> 'deleting_since' is not null),
  'locks', (select coalesce(json_agg(l.name), '[]') from locks l left join tasks t on t.id = l.task_id
    where t.id is null or t.state not in ('queued', 'processing', 'cancelling')),
  'tasks', (select coalesce(json_agg(json_build_object('id', id, 'type', type, 'state', state, 'result', result)
      order by id), '[]') from tasks),
  'blobs', (select coalesce(json_agg(b), '[]') from (select blob_id as b from jobs union select blob_id from packages
      where blob_id is not null union select blob_id from compiled_packages) x),
  'instances', (select coalesce(json_agg(json_build_object('deployment', d.name, 'group', i.group_name, 'uuid', i.uuid,
      'index', i.index, 'state', i.state, 'completed', i.update_completed, 'compilation', i.compilation,
      'ignore', i.ignore) order by d.name, i.group_name, i.uuid), '[]')
    from instances i join deployments d on d.id = i.deployment_id)
) as records`;

export async function readRecords(admin: pg.Client): Promise<Records> {
  const { rows } = await admin.query<{ readonly records: Records }>({ name: "records", text: READ });
  const found = rows[0]?.records;
  if (found === undefined) throw new Error("bug: no row");
  return { ...found, intents: found.intents.map(({ step, text }) => ({ step, text: simSealer.open(text) })) };
}
