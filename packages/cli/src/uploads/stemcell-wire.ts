import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";

const stemcell = v.object({
  name: v.string(),
  version: v.string(),
  operating_system: v.nullish(v.string()),
  cid: v.nullish(v.string()),
  cpi: v.nullish(v.string()),
  deployments: v.nullish(v.array(v.unknown())),
});

export type ListedStemcell = v.InferOutput<typeof stemcell>;

/** By name, the newest version first. */
export async function listStemcells(api: DirectorApi): Promise<readonly ListedStemcell[]> {
  const all = await api.json({ method: "GET", path: "/stemcells" }, v.array(stemcell));
  return [...all].sort((a, b) =>
    a.name === b.name ? compare(b.version, a.version) : a.name < b.name ? -1 : 1,
  );
}

/** Number by number: 1.10 is newer than 1.9. */
function compare(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
