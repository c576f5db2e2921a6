import { type Stemcell, stemcell } from "@slipway/protocol/director/stemcell";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";

/** Lists stemcells by name, the newest version first. */
export async function listStemcells(api: DirectorApi): Promise<readonly Stemcell[]> {
  const all = await api.json({ method: "GET", path: "/stemcells" }, v.array(stemcell));
  return [...all].sort((a, b) =>
    a.name === b.name ? compare(b.version, a.version) : a.name < b.name ? -1 : 1,
  );
}

/** Number by number: 1.10 is newer than 1.9. */
function compare(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
