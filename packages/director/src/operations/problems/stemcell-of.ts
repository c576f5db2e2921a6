import type { CpiName } from "@slipway/engine/model/names";
import { display } from "@slipway/engine/model/names";
import type { VmRecord } from "@slipway/engine/model/records";
import type { ListedVm } from "@slipway/protocol/cpi/methods/list_resources";
import { NotProven } from "../errors.ts";
import type { Scene } from "./scene.ts";

/** Returns the stemcell of a VM: as the cloud says, or else that of the VM before it. */
export async function stemcellOf(
  { db, instance }: Scene,
  vm: ListedVm,
  cpi: CpiName,
  recorded: VmRecord | undefined,
): Promise<VmRecord["stemcell"]> {
  const row =
    vm.stemcell_cid === undefined
      ? undefined
      : await db
          .selectFrom("stemcells")
          .select(["name", "version", "api_version"])
          .where("cid", "=", vm.stemcell_cid)
          .where("cpi", "=", cpi)
          .executeTakeFirst();
  if (row !== undefined) return { name: row.name, version: row.version, apiVersion: row.api_version };
  if (recorded !== undefined) return recorded.stemcell;
  const why = "which stemcell it was made from is not known; upload that one again";
  throw NotProven({ what: "VM", cid: vm.cid, instance: display(instance), why });
}
