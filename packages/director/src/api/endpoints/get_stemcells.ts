import { stemcell as stemcellEntry } from "@slipway/protocol/director/stemcell";
import * as v from "valibot";
import { deploymentsOf } from "../../store/deployments.ts";
import { listStemcells } from "../../store/stemcells.ts";
import { stemcellWire } from "../leftover-wire.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Lists stemcells. Members of teams learn only which of their own deployments use one. */
export const getStemcells = endpoint({ reply: v.array(stemcellEntry) }, async ({ access }, { db }) => {
  const all = await listStemcells(db);
  if (access.read) return json(all.map(stemcellWire));
  const names = await Promise.all(access.memberOf.map((team) => deploymentsOf(db, team)));
  const seen = new Set(names.flat());
  return json(
    all.map((one) =>
      stemcellWire({ ...one, deployments: one.deployments.filter((deployment) => seen.has(deployment)) }),
    ),
  );
});
