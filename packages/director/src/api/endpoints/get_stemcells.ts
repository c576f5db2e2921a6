import { stemcell as stemcellEntry } from "@slipway/protocol/director/stemcell";
import * as v from "valibot";
import { listStemcells } from "../../store/stemcells.ts";
import { stemcellWire } from "../leftover-wire.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getStemcells = endpoint({ reply: v.array(stemcellEntry) }, async (_call, { db }) =>
  json((await listStemcells(db)).map(stemcellWire)),
);
