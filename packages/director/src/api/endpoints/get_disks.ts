import { orphanDisk } from "@slipway/protocol/director/disk";
import * as v from "valibot";
import { listOrphanDisks } from "../../store/disks.ts";
import { orphanDiskWire } from "../leftover-wire.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** The orphaned ones: what `bosh disks --orphaned` lists. */
export const getDisks = endpoint({ reply: v.array(orphanDisk) }, async (_call, { db }) =>
  json((await listOrphanDisks(db)).map(orphanDiskWire)),
);
