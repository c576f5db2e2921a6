import * as v from "valibot";
import { directorUuid, requestId } from "../ids.ts";
import { json, open, openWith } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";
import { disks } from "../settings/disks.ts";
import { apiVersionNumber } from "./api-version.ts";

/** The VM a call is about, as far as the caller knows it. */
export const vmContext = open({
  stemcell: v.optional(
    v.nullable(
      open({
        api_version: v.optional(
          doc(v.nullable(apiVersionNumber), "of the stemcell the VM runs; missing means 1"),
        ),
      }),
    ),
  ),
  disks: v.optional(
    doc(v.nullable(disks), "disks the Director has recorded for the VM; ours only, others ignore it"),
  ),
});

/**
 * The context of a call. Keys of a CPI config are merged flat beside ours and may be credentials: whatever is not
 * named here is hidden.
 */
export const cpiContext = openWith(
  {
    director_uuid: directorUuid,
    request_id: v.optional(
      doc(v.nullable(requestId), "absent from the CLI; six random digits from the Ruby Director"),
    ),
    vm: v.optional(v.nullable(vmContext)),
  },
  hidden(json()),
);
export type CpiContext = v.InferOutput<typeof cpiContext>;

export const CONTEXT_KEYS: readonly string[] = ["director_uuid", "request_id", "vm"];

export const stemcellVersion = (context: CpiContext): number | undefined =>
  context.vm?.stemcell?.api_version ?? undefined;
