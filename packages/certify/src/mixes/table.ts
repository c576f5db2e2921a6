import { columnsText, MIX_HEADER, mixCells } from "../columns.ts";
import type { CallSeen, MixRow } from "./row.ts";

const HEADER = [
  ...MIX_HEADER.with(0, "Deployed by"),
  "create_vm ->",
  "user-data",
  "registry",
  "attach ->",
  "agent is told",
  "settings from",
  "data kept",
  "agrees?",
];

/** The rows as a table for people; fits a terminal of 140 columns. */
export function tableText(rows: readonly MixRow[]): string {
  const body = rows.map((row) => [
    ...mixCells(row).with(0, `${row.deployer} v${row.director}`).with(2, STEMCELL[row.agent]),
    same(answersOf(row, "create_vm")),
    same(row.moments.flatMap(({ userData }) => USER_DATA[userData ?? "none"] ?? [])),
    registryText(row),
    same(answersOf(row, "attach_disk").map((answer) => (answer === null ? "nothing" : "disk hint"))),
    same(row.told.map(({ messages }) => toldText(messages))),
    same(row.moments.flatMap(({ settingsFrom }) => settingsFrom ?? [])),
    dataText(row),
    row.agrees ? "ok" : "WRONG",
  ]);
  return columnsText([HEADER, ...body]);
}

const STEMCELL: Readonly<Record<MixRow["agent"], string>> = { v1: "v1", "first v2": "v2 of 2018", v2: "v2" };

const USER_DATA: Readonly<Record<string, string>> = {
  settings: "full settings",
  registry: "registry URL",
  unusable: "unusable",
};

const answersOf = (row: MixRow, method: CallSeen["method"]) =>
  row.calls.filter((call) => call.method === method).map(({ answer }) => answer);

/** One word when all say the same. */
function same(words: readonly unknown[]): string {
  const different = [...new Set(words.map(String))];
  return different.length === 0 ? "-" : different.join(" / ");
}

function registryText({ calls }: MixRow): string {
  if (calls.length === 0) return "-";
  if (calls.every(({ after }) => after === "not started")) return "not started";
  const wrote = calls.filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after)).length;
  return `${wrote} writes`;
}

const toldText = (messages: readonly string[]): string =>
  messages.includes("update_persistent_disk")
    ? "old hint, mount"
    : messages.includes("add_persistent_disk")
      ? "hint, mount"
      : messages.includes("mount_disk")
        ? "mount"
        : "-";

function dataText({ moments }: MixRow): string {
  const read = moments.filter(({ data }) => data === "kept" || data === "lost");
  if (read.length === 0) return "-";
  return read.every(({ data }) => data === "kept") ? `${read.length} times` : "LOST";
}
