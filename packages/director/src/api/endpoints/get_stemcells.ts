import { stemcell as stemcellEntry } from "@slipway/protocol/director/stemcell";
import * as v from "valibot";
import { listStemcells } from "../../store/stemcells.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getStemcells = endpoint({ reply: v.array(stemcellEntry) }, async (_call, { db }) => {
  const stemcells = await listStemcells(db);
  return json(
    stemcells.map((stemcell) => ({
      id: stemcell.id,
      name: stemcell.name,
      operating_system: stemcell.operatingSystem,
      version: stemcell.version,
      cid: stemcell.cid,
      cpi: stemcell.cpi,
      api_version: stemcell.apiVersion,
      deployments: stemcell.deployments.map((name) => ({ name })),
    })),
  );
});
