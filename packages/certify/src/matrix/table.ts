import { columnsText, MIX_HEADER, mixCells } from "../columns.ts";
import type { MatrixRow } from "./observe.ts";

const VERBS: Readonly<Record<string, string>> = {
  create_vm: "create",
  attach_disk: "attach",
  detach_disk: "detach",
  delete_vm: "delete",
};

/** The rows as a table for people; fits a terminal of 120 columns. */
export function tableText(rows: readonly MatrixRow[]): string {
  const header = [...MIX_HEADER, "create_vm ->", "user-data", "registry", "attach ->", "agent is told", ""];
  const body = rows.map((row) => [
    ...mixCells(row),
    row.createVmResult,
    row.userData === "settings" ? "full settings" : row.userData === "registry" ? "registry URL" : "unusable",
    writesText(row),
    row.attachDiskResult === null ? "nothing" : "disk hint",
    row.agentCalls.join(", "),
    row.agrees ? "ok" : "WRONG",
  ]);
  return columnsText([header, ...body]);
}

function writesText(row: MatrixRow): string {
  const wrote = Object.entries(row.registryWrites).filter(([, verbs]) => verbs.length > 0);
  if (wrote.length === 0) return "none";
  const all = wrote.length === Object.keys(VERBS).length;
  const count = wrote.reduce((sum, [, verbs]) => sum + verbs.length, 0);
  return all ? `all ${count} writes` : wrote.map(([method]) => VERBS[method] ?? method).join(", ");
}
