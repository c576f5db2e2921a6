import type pg from "pg";
import type { SimClients } from "../director/director-in-sim.ts";
import type { SimWorld } from "../world/world.ts";

/** Queries that find a resource in use, with its cid as the parameter, by the CPI method that deletes it. */
const IN_USE: Readonly<Record<string, string>> = {
  delete_disk: "select 1 from persistent_disks where cid = $1 and active",
  delete_stemcell:
    "select 1 from deployment_stemcells d join stemcells s on s.id = d.stemcell_id where s.cid = $1",
  delete_network:
    "select 1 from deployment_networks d join subnets s on s.network_id = d.network_id where s.cid = $1",
};

/** Notes a violation when a CPI is told to delete what the database says is in use at that moment. */
export const watchDeletions =
  (world: SimWorld, admin: pg.Client) =>
  (clients: SimClients): SimClients => ({
    ...clients,
    cpi: async (request, of) => {
      const sql = IN_USE[request.method];
      const cid = String(request.arguments[0]);
      if (sql !== undefined && (await admin.query(sql, [cid])).rows.length > 0)
        world.violate(`${request.method} of ${cid}, which is recorded as in use`);
      return await clients.cpi(request, of);
    },
  });
