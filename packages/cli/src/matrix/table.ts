import { MIXES, type RecordedMix, rowsOf, type VmVersions } from "@slipway/protocol/mixes";
import type { Table } from "../ui/ui.ts";

const part = (version: number) => (version === 1 ? "v1" : "v2+");

/** The eight mixes, and who of these VMs runs in which. */
export function mixesTable(vms: readonly VmVersions[], directorVersion: number): Table {
  const inRow = (row: RecordedMix) => vms.filter((vm) => rowsOf(vm, directorVersion).includes(row));
  return {
    content: "mixes",
    unpadded: true,
    header: {
      mix: "Mix",
      director: "Director",
      cpi: "CPI",
      stemcell: "Stemcell",
      api_version: "Calls",
      create_vm: "create_vm",
      attach_disk: "attach_disk",
      settings: "Settings from",
      registry: "Registry",
      vms: "VMs",
      names: "Which",
    },
    rows: MIXES.map((row) => {
      const { agreed } = row;
      const here = inRow(row);
      return [
        String(row.number),
        part(row.director),
        part(row.cpi),
        part(row.stemcell),
        part(agreed.apiVersion),
        agreed.createVmResult,
        agreed.attachDiskReturnsHint ? "hint" : "nothing",
        agreed.userData === "settings" ? "user-data" : "registry",
        agreed.registryless ? "no" : "yes",
        String(here.length),
        here.map(({ name }) => name).join("\n"),
      ];
    }),
  };
}

/** Says in a sentence how many VMs of this Director run with and without a registry. */
export function mixesSentence(vms: readonly VmVersions[], directorVersion: number): string {
  if (vms.length === 0) return "There are no VMs yet.";
  const without = vms.filter((vm) =>
    rowsOf(vm, directorVersion).every(({ agreed }) => agreed.registryless),
  ).length;
  const some = `${without} without a registry, ${vms.length - without} with one.`;
  const all = `${without === 0 ? "with" : "without"} a registry.`;
  const mixed = without > 0 && without < vms.length;
  return `${vms.length === 1 ? "The only VM runs" : `${vms.length} VMs run`}${mixed ? `: ${some}` : ` ${all}`}`;
}
