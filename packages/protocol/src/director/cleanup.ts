import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";
import { orphanDisk } from "./disk.ts";
import { orphanedVm } from "./instance.ts";
import { stemcell } from "./stemcell.ts";

/** `POST /cleanup`. */
export const cleanUpOrder = open({
  config: open({
    remove_all: v.optional(
      v.nullable(doc(v.boolean(), "also the newest two of each, orphaned disks and compiled packages")),
    ),
    keep_orphaned_disks: v.optional(v.nullable(v.boolean())),
  }),
});

/** `GET /cleanup/dryrun`. */
export const cleanUpQuery = open({
  remove_all: v.optional(doc(v.string(), "`true`, as for `POST /cleanup`")),
  keep_orphaned_disks: v.optional(v.string()),
});

/** Lists the things that a cleanup would delete. */
export const cleanUpPreview = open({
  releases: v.array(open({ name: v.string(), versions: v.array(v.string()) })),
  stemcells: v.array(stemcell),
  compiled_packages: v.array(
    open({ package_name: v.string(), stemcell_os: v.string(), stemcell_version: v.string() }),
  ),
  orphaned_disks: v.array(orphanDisk),
  orphaned_vms: v.array(orphanedVm),
  exported_releases: v.array(doc(v.string(), "the ids of their blobs")),
  dns_blobs: v.array(v.string()),
});
export type CleanUpPreview = v.InferOutput<typeof cleanUpPreview>;
