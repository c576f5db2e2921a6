import { cleanUpPreview, cleanUpQuery } from "@slipway/protocol/director/cleanup";
import { findUnused } from "../../artifacts/find-unused.ts";
import { queryFlag } from "../call.ts";
import { orphanDiskWire, orphanedVmWire, stemcellWire } from "../leftover-wire.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** `bosh clean-up --dry-run` */
export const getCleanupDryrun = endpoint(
  { query: cleanUpQuery, reply: cleanUpPreview },
  async (call, services) => {
    const unused = await findUnused(services, {
      all: queryFlag(call.query, "remove_all"),
      keepDisks: queryFlag(call.query, "keep_orphaned_disks"),
    });
    return json({
      releases: unused.releases.map(({ name, versions }) => ({ name, versions: [...versions] })),
      stemcells: unused.stemcells.map(stemcellWire),
      compiled_packages: unused.compiled.map((one) => ({
        package_name: one.name,
        stemcell_os: one.stemcellOs,
        stemcell_version: one.stemcellVersion,
      })),
      orphaned_disks: unused.disks.map(orphanDiskWire),
      orphaned_vms: unused.vms.map(orphanedVmWire),
      exported_releases: [...unused.exported],
      dns_blobs: [],
    });
  },
);
