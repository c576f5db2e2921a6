import { refusedAs } from "@slipway/engine/clouds/cloud";
import { newRequestId } from "@slipway/engine/flows/calls";
import { DirectorError } from "@slipway/engine/model/director-error";
import { deleteStemcellParams } from "@slipway/protocol/director/task-params";
import { listStemcells, mustBeUnused, removeStemcell } from "../store/stemcells.ts";
import { operation } from "./operation.ts";

const LOCK_MS = 10_000;
const NOT_FOUND = 50003;

export const deleteStemcell = operation(
  deleteStemcellParams,
  async ({ name, version, force }, task, shop) => {
    return await task.withLock(`lock:stemcells:${name}:${version}`, LOCK_MS, async () => {
      const rows = await listStemcells(shop.db, { name, version });
      if (rows.length === 0)
        throw new DirectorError(NOT_FOUND, `no stemcell '${name}/${version}'`, { status: 404 });
      for (const row of rows) await mustBeUnused(shop.db, row.id);
      const stage = task.stage("Deleting stemcell from cloud", [], rows.length);
      for (const row of rows) {
        await stage.step(`${name}/${version}${row.cpi === "" ? "" : ` (cpi: ${row.cpi})`}`, async () => {
          const options = {
            requestId: newRequestId(shop),
            signal: task.signal,
            log: (text: string) => task.cpi(text),
          };
          try {
            await shop.clouds.cloud(row.cpi).deleteStemcell(row.cid, options);
          } catch (error) {
            if (!force && !refusedAs(error, "StemcellNotFound")) throw error;
            task.debug(
              `deleting stemcell ${row.cid} from the cloud failed and was passed over: ${String(error)}`,
            );
          }
          await removeStemcell(shop.db, row.id);
        });
      }
      return `/stemcells/${name}/${version}`;
    });
  },
);
