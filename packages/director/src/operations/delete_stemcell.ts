import { deleteStemcellParams } from "@slipway/protocol/director/task-params";
import { wasDone } from "../store/events.ts";
import { forgetUploads, listStemcells, mustBeUnused } from "../store/stemcells.ts";
import { deleteUploadedStemcell } from "./delete-uploaded-stemcell.ts";
import { NoSuchStemcell } from "./errors.ts";
import { operation } from "./operation.ts";

const LOCK_MS = 10_000;

export const deleteStemcell = operation(
  deleteStemcellParams,
  async ({ name, version, force }, task, tools) => {
    return await task.withLock(`lock:stemcells:${name}:${version}`, LOCK_MS, async () => {
      const rows = await listStemcells(tools.db, { name, version });
      const deleted = { action: "delete", objectType: "stemcell", objectName: `${name}/${version}` };
      if (rows.length === 0 && (await wasDone(tools.db, task.id, deleted)))
        return `/stemcells/${name}/${version}`;
      if (rows.length === 0) {
        // All CPIs may have skipped it.
        await task.write((db) => forgetUploads(db, { name, version }));
        throw NoSuchStemcell({ name, version });
      }
      for (const row of rows) await mustBeUnused(tools.db, row.id);
      const stage = task.stage("Deleting stemcell from cloud", [], rows.length);
      for (const row of rows) {
        await stage.step(`${name}/${version}${row.cpi === "" ? "" : ` (cpi: ${row.cpi})`}`, async () => {
          await deleteUploadedStemcell(row, force, task, tools);
        });
      }
      return `/stemcells/${name}/${version}`;
    });
  },
);
