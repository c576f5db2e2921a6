import { snapshot } from "@slipway/protocol/director/snapshot";
import * as v from "valibot";
import { listSnapshots } from "../../store/snapshots.ts";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { utc } from "../times.ts";

/** Lists the snapshots of a deployment, or of one instance of it. As upstream, an instance that does not exist has none. */
export const getDeploymentsNameSnapshots = endpoint({ reply: v.array(snapshot) }, async (call, { db }) => {
  const { name } = await deploymentOf(db, param(call, "deployment"));
  const { group: only, index: which } = call.params;
  const all = (await listSnapshots(db, name)).filter(
    ({ group, index, uuid }) =>
      (only === undefined || only === group) &&
      (which === undefined || [String(index), uuid].includes(which)),
  );
  return json(
    all.map(({ group, index, uuid, cid, createdAt, clean }) => ({
      ...{ job: group, index, uuid, snapshot_cid: cid, created_at: utc(createdAt), clean },
    })),
  );
});
