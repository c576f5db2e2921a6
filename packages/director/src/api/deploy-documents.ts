import type { Side } from "../documents/questions.ts";
import { findConfigs } from "../store/configs.ts";
import { listDeployments } from "../store/deployments.ts";
import { releaseVersions } from "../store/releases.ts";
import type { Db } from "../store/schema.ts";
import { listStemcells, usableStemcells } from "../store/stemcells.ts";
import type { ConfigIds } from "./deploy-configs.ts";

/** Manifest and configs of the last deploy that succeeded; empty if there was none. */
export async function deployedDocument(db: Db, name: string): Promise<Side> {
  const [deployment] = await listDeployments(db, [name]);
  if (deployment?.manifestText == null) return { main: { text: null, loose: true } };
  const used = (await listStemcells(db)).filter(({ deployments }) => deployments.includes(name));
  const ids = deployment.configs.map(({ id }) => id);
  return {
    main: { text: deployment.manifestText, loose: true },
    configs: await contents(db, ids),
    stemcells: used,
    releases: deployment.releases,
  };
}

/** Loads the configs, stemcells and releases that a manifest is deployed with. */
export async function wantedWith(db: Db, configs: ConfigIds) {
  return {
    cloudConfigs: await contents(db, configs.cloud_config_ids),
    runtimeConfigs: await contents(db, configs.runtime_config_ids),
    stemcells: await usableStemcells(db),
    releases: await releaseVersions(db),
  };
}

async function contents(db: Db, ids: readonly number[]): Promise<string[]> {
  const configs = (await findConfigs(db, ids)).filter(({ type }) => type === "cloud" || type === "runtime");
  const order = (type: string) => (type === "cloud" ? 0 : 1);
  return configs.sort((a, b) => order(a.type) - order(b.type)).map(({ content }) => content);
}
