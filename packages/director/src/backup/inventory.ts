import type { Clock } from "@slipway/kernel/clock";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { matches } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import type pg from "pg";
import * as v from "valibot";
import { withClient } from "../store/embedded/probe.ts";
import { withDatabase } from "./database.ts";

export type HeldKind =
  | "VM"
  | "orphaned VM"
  | "disk"
  | "orphaned disk"
  | "snapshot"
  | "stemcell"
  | "network"
  | "stray";

/** Something in a cloud that a record names. */
export interface Held {
  /** Name of its CPI; empty for the Director's own. */
  readonly cpi: string;
  readonly kind: HeldKind;
  readonly cid: string;
  readonly about: string;
}

export interface Inventory {
  /**
   * The CPI: in-process, with its name, or the path of an executable; undefined before a Director of this version has started.
   */
  readonly own: { readonly kind: "in-process" | "executable"; readonly name: string } | undefined;
  readonly deployments: readonly string[];
  readonly held: readonly Held[];
}

const HELD = `
select v.cpi, 'VM' as kind, v.cid, d.name || ', ' || i.group_name || '/' || i.uuid as about
  from vms v join instances i on i.id = v.instance_id join deployments d on d.id = i.deployment_id
union all select cpi, 'orphaned VM', cid, deployment_name || ', ' || instance_name from orphaned_vms
union all select p.cpi, 'disk', p.cid, d.name || ', ' || i.group_name || '/' || i.uuid
  from persistent_disks p join instances i on i.id = p.instance_id join deployments d on d.id = i.deployment_id
union all select cpi, 'orphaned disk', cid, deployment_name || ', ' || instance_name from orphan_disks
union all select cpi, 'snapshot', cid, 'of ' || disk_cid from snapshots
union all select cpi, 'stemcell', cid, name || '/' || version from stemcells
union all select s.cpi, 'network', s.cid, n.name || ', ' || s.name from subnets s join networks n on n.id = s.network_id
union all select cpi, 'stray', request_id, kind || ': ' || about from strays
order by 1, 2, 4, 3`;

const executable = open({ kind: v.literal("executable"), path: v.string(), name: v.nullish(v.string()) });
const inProcess = open({ kind: v.literal("in-process"), name: v.string() });

/** Lists everything in clouds that the records of a Director name, whether the Director runs or not. */
export const readInventory = (where: {
  readonly stateDir: string;
  readonly config: DirectorConfig;
  readonly clock: Clock;
}): Promise<Inventory> => withDatabase(where, (connection) => withClient(connection, inventoryOf));

async function inventoryOf(client: pg.ClientBase): Promise<Inventory> {
  const { rows: held } = await client.query<Held>(HELD);
  const { rows: deployments } = await client.query<{ name: string }>(
    "select name from deployments order by name",
  );
  const { rows: noted } = await client.query<{ value: string }>(
    "select value from identities where name = 'cpi'",
  );
  return { own: ownOf(noted[0]?.value), deployments: deployments.map(({ name }) => name), held };
}

function ownOf(value: string | undefined): Inventory["own"] {
  const cpi: unknown = value === undefined ? undefined : parseStrictJson(value, "identity");
  if (matches(executable, cpi)) return { kind: cpi.kind, name: cpi.name ?? cpi.path };
  return matches(inProcess, cpi) ? { kind: cpi.kind, name: cpi.name } : undefined;
}
