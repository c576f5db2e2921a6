import { orphanedVm } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import { listOrphanedVms } from "../../store/orphaned-vms.ts";
import { orphanedVmWire } from "../leftover-wire.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getOrphanedVms = endpoint({ reply: v.array(orphanedVm) }, async (_call, { db }) =>
  json((await listOrphanedVms(db)).map(orphanedVmWire)),
);
