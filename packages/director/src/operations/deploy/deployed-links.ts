import { diskLinks } from "@slipway/engine/jobs/links/plan-links";
import type { Manifest } from "@slipway/engine/manifest/model";
import type { DeployedLinks } from "../../store/links.ts";

/** Links to keep of a deploy. `planned` is undefined for a deployment without jobs: only its named disks are links. */
export const deployedLinks = (manifest: Manifest, planned: DeployedLinks | undefined): DeployedLinks => ({
  linkProviders: planned?.linkProviders ?? diskLinks(manifest),
  linkConsumers: planned?.linkConsumers ?? [],
  links: planned?.links ?? [],
  formerGroups: new Map(
    manifest.groups
      .filter(({ migratedFrom }) => migratedFrom.length > 0)
      .map(({ name, migratedFrom }) => [name, migratedFrom.map((from) => from.name)]),
  ),
});
