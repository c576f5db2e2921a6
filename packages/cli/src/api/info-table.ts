import type { Info } from "@slipway/protocol/director/info";
import { type Field, fieldsTable } from "../ui/fields-table.ts";
import type { Table } from "../ui/ui.ts";

/** Returns the table that `env` and `alias-env` show. */
export function infoTable(info: Info): Table {
  const features = Object.entries(info.features ?? {})
    .map(([name, { status }]) => `${name}: ${status ? "enabled" : "disabled"}`)
    .sort();
  const fields: Field[] = [
    ["name", "Name", info.name],
    ["uuid", "UUID", info.uuid],
    ["version", "Version", info.version],
  ];
  if (info.stemcell_os)
    fields.push([
      "director_stemcell",
      "Director Stemcell",
      `${info.stemcell_os}/${info.stemcell_version ?? ""}`,
    ]);
  if (info.cpi) fields.push(["cpi", "CPI", info.cpi]);
  fields.push(["features", "Features", features.join("\n")]);
  fields.push(["user", "User", info.user || "(not logged in)"]);
  return fieldsTable("", fields);
}
