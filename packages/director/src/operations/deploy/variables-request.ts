import { resolveStemcells, stemcellsIn } from "@slipway/engine/manifest/resolve-stemcells";
import type { StemcellRecord } from "@slipway/engine/model/records";
import { listDeployments } from "../../store/deployments.ts";
import type { Db } from "../../store/schema.ts";
import type { Request } from "./gather.ts";
import type { VariablesRequest } from "./variables.ts";

export const variablesRequest = (
  { deployment, versions, options }: Request,
  manifest: unknown,
  stemcells: readonly StemcellRecord[],
  db: Db,
): VariablesRequest => ({
  deployment,
  versions,
  dryRun: options.dry_run,
  forceLatest: options.force_latest_variables,
  stemcellsChanged: async () => {
    const [summary] = await listDeployments(db, [deployment]);
    const used = new Set((summary?.stemcells ?? []).map(({ name, version }) => `${name}/${version}`));
    const wanted = stemcellsIn(manifest).flatMap((one) => {
      const found = resolveStemcells([one], stemcells);
      return found.ok ? found.stemcells : [];
    });
    return !wanted.some(({ records }) => records.some(({ name, version }) => used.has(`${name}/${version}`)));
  },
});
