import { saveConfig } from "@slipway/director/store/configs";
import type { Db } from "@slipway/director/store/schema";
import { saveStemcell } from "@slipway/director/store/stemcells";
import type { StemcellCid } from "@slipway/protocol/ids";
import type { SimWorld } from "../world/world.ts";
import { CLOUD_CONFIG, REUSING_CLOUD_CONFIG } from "./manifests.ts";

const STEMCELL = "stemcell-1" as StemcellCid;

/**
 * Adds what every deployment of drivers and benchmarks needs to a world and a store: a stemcell and two cloud configs.
 */
export async function seed(world: SimWorld, db: Db): Promise<void> {
  seedWorld(world);
  await saveStemcell(db, {
    name: "sim",
    version: "1.1",
    operatingSystem: "sim-os",
    cid: STEMCELL,
    digest: "none",
    cpi: "",
    apiVersion: 3,
  });
  await saveConfig(db, { type: "cloud", name: "default", content: CLOUD_CONFIG });
  await saveConfig(db, { type: "cloud", name: "reusing", content: REUSING_CLOUD_CONFIG });
}

/** For a world beside a store that has them already. */
export const seedWorld = (world: SimWorld): void => void world.stemcells.add(STEMCELL);
