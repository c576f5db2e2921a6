import type { ConfiguredCpi } from "@slipway/engine/manifest/cpi-config";
import { stemcellUpload, stemcellUploadAnswer } from "@slipway/protocol/director/stemcell";
import { configuredCpis } from "../../cpis/configured.ts";
import { uploadedTo } from "../../store/stemcells.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** The Director's own CPI: the only one without CPI config. */
const OWN_CPI: Pick<ConfiguredCpi, "name" | "migratedFrom"> = { name: "", migratedFrom: [] };

/**
 * Reports whether an upload would bring something new to some CPI. For an address whose name is not known the CLI sends empty
 * strings.
 */
export const postStemcellUploads = endpoint(
  { body: stemcellUpload, reply: stemcellUploadAnswer },
  async (call, services) => {
    const { name, version } = (await call.json()).stemcell;
    if (!name || !version) return json({ needed: true });
    const uploaded = new Set(await uploadedTo(services.db, name, version));
    const configured = await configuredCpis(services);
    const cpis = configured.length === 0 ? [OWN_CPI] : configured;
    const has = (cpi: typeof OWN_CPI) => [cpi.name, ...cpi.migratedFrom].some((one) => uploaded.has(one));
    return json({ needed: !cpis.every(has) });
  },
);
