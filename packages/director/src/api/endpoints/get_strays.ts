import { stray as strayEntry } from "@slipway/protocol/director/stray";
import * as v from "valibot";
import { listStrays } from "../../store/strays.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { utc } from "../times.ts";

/** Lists what may exist in a cloud without a record, because the outcome of a call is unknown. Upstream does not have it. */
export const getStrays = endpoint({ reply: v.array(strayEntry) }, async (_call, { db }) => {
  const strays = await listStrays(db);
  return json(
    strays.map((stray) => ({
      id: String(stray.id),
      kind: stray.kind,
      cpi: stray.cpi,
      request_id: stray.requestId,
      about: stray.about,
      why: stray.why,
      noted_at: utc(stray.notedAt),
    })),
  );
});
