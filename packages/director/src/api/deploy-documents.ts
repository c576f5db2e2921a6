import { newMap, type Tree } from "@slipway/engine/documents/tree";
import type { ManifestStemcell } from "@slipway/engine/manifest/model";
import { resolveStemcells, withResolvedVersions } from "@slipway/engine/manifest/resolve-stemcells";
import type { StemcellRecord } from "@slipway/engine/model/records";
import { isObject } from "@slipway/protocol/schema/json";
import { findConfigs } from "../store/configs.ts";
import { listDeployments } from "../store/deployments.ts";
import type { Db } from "../store/schema.ts";
import { listStemcells } from "../store/stemcells.ts";
import type { ConfigIds } from "./deploy-configs.ts";
import { looseMap, mergeDocuments } from "./documents.ts";

/** Manifest and configs of the last deploy that succeeded; empty if there was none. */
export async function deployedDocument(db: Db, name: string): Promise<Tree> {
  const [deployment] = await listDeployments(db, [name]);
  if (deployment?.manifestText == null) return newMap();
  const used = (await listStemcells(db)).filter(({ deployments }) => deployments.includes(name));
  const ids = deployment.configs.map(({ id }) => id);
  return mergeDocuments([...(await contents(db, ids)), resolved(looseMap(deployment.manifestText), used)]);
}

/** The same of a manifest that is to be deployed. */
export async function wantedDocument(db: Db, manifest: Tree, configs: ConfigIds): Promise<Tree> {
  const ids = [...configs.cloud_config_ids, ...configs.runtime_config_ids];
  return mergeDocuments([...(await contents(db, ids)), resolved(manifest, await listStemcells(db))]);
}

async function contents(db: Db, ids: readonly number[]): Promise<Tree[]> {
  const configs = (await findConfigs(db, ids)).filter(({ type }) => type === "cloud" || type === "runtime");
  const order = (type: string) => (type === "cloud" ? 0 : 1);
  return configs.sort((a, b) => order(a.type) - order(b.type)).map(({ content }) => looseMap(content));
}

/** With `latest` as the version it stands for, so that a newer stemcell shows. */
function resolved(manifest: Tree, stemcells: readonly StemcellRecord[]): Tree {
  // One by one: the version of one is shown also when another is not there.
  const found = stemcellsOf(manifest).flatMap((wanted) => {
    const one = resolveStemcells([wanted], stemcells);
    return one.ok ? one.stemcells : [];
  });
  const document = withResolvedVersions(manifest, found);
  return isObject(document) ? document : manifest;
}

/** Of a manifest that may have any mistake: the deploy will say so, the comparison goes on. */
function stemcellsOf(manifest: Tree): readonly ManifestStemcell[] {
  const entries = Array.isArray(manifest.stemcells) ? (manifest.stemcells as readonly unknown[]) : [];
  return entries.filter(isObject).map((entry) => ({
    alias: String(entry.alias),
    os: typeof entry.os === "string" ? entry.os : undefined,
    name: typeof entry.name === "string" ? entry.name : undefined,
    version: String(entry.version),
  }));
}
