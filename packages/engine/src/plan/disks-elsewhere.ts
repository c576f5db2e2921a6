import type { Report } from "../documents/problems.ts";
import type { DesiredInstance } from "../model/goal.ts";
import { cpiText, display } from "../model/names.ts";
import { activeDisk } from "../model/records.ts";
import type { Placed } from "./placement.ts";

/** Upstream has no number for it: it would attach the disk of one cloud to the VM of another. */
const NO_NUMBER = 100;

/**
 * A disk stays in its cloud. An instance that is to move to another one and keep its disk is refused before anything is
 * touched; a disk that is no longer wanted is orphaned, as always.
 */
export function refuseDisksElsewhere({ recorded }: Placed, desired: DesiredInstance, report: Report): void {
  if (recorded === undefined) return;
  const wanted = [
    ...(desired.persistentDisk === null ? [] : [undefined]),
    ...(desired.namedDisks ?? []).map(({ name }) => name),
  ];
  for (const name of wanted) {
    const disk = activeDisk(recorded, name);
    if (disk === undefined || disk.cpi === desired.cpi) continue;
    report.add(
      NO_NUMBER,
      display(recorded),
      `Instance '${display(recorded)}' is to move to ${cpiText(desired.cpi)}, and its persistent disk '${disk.cid}' is with ${cpiText(disk.cpi)} and cannot`,
      `If both are the same cloud, give ${cpiText(desired.cpi)} migrated_from: [{name: '${disk.cpi}'}] in the CPI config. ` +
        "Else leave the instance where it is, or take its data elsewhere, deploy once without the disk, which is then orphaned and not deleted, and move the instance after that.",
    );
  }
}
