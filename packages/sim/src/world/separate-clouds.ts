import type { CpiClient } from "@slipway/cpi-sdk/embed";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { SimWorld } from "./world.ts";

/** The CPIs of a world. `of`: the type of one; undefined: the Director's own. */
export type WorldCpis = (request: CpiRequest, of?: string) => Promise<CpiResponse>;

const MAKES = [
  "create_stemcell",
  "create_vm",
  "create_disk",
  "snapshot_disk",
  "update_disk",
  "create_network",
];

/**
 * Several clouds in one world: each CPI knows what it has made itself. One that is asked for another's answers that it is
 * not there, and the Director is found out.
 */
export const separateClouds =
  (world: SimWorld, cpi: Pick<CpiClient, "request">): WorldCpis =>
  async (request, of = "") => {
    const { method, arguments: args } = request;
    const strange = args.flat().filter((cid): cid is string => {
      if (typeof cid !== "string") return false;
      const known = world.vms.has(cid) || world.disks.has(cid) || world.stemcells.has(cid);
      const other = world.snapshots.has(cid) || world.networks.has(cid);
      return (known || other) && (world.madeBy.get(cid) ?? "") !== of;
    });
    for (const cid of strange) {
      const whose = world.madeBy.get(cid) ?? "";
      // To ask whether it has one is no mistake.
      if (method.startsWith("has_")) return { result: false, error: null, log: "" };
      world.violate(`${method} of ${cid}, which is with '${whose}', went to '${of}'`);
    }
    const reply = await cpi.request(request);
    if (of !== "" && reply.error === null && MAKES.includes(method))
      world.madeBy.set(String([reply.result].flat()[0]), of);
    return reply;
  };
