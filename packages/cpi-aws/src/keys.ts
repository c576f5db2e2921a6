import { fieldDocs } from "@slipway/protocol/schema/describe";
import { open } from "@slipway/protocol/schema/json";
import { awsConfig } from "./config.ts";
import { diskFields, HEAVY_ONLY, networkFields, REFUSED, stemcellFields, vmFields } from "./properties.ts";

export interface KeyRow {
  readonly key: string;
  readonly verdict: "used" | "refused" | "not used";
  readonly what: string;
}

export interface KeyTable {
  readonly title: string;
  readonly rows: readonly KeyRow[];
}

/** Keys that are taken and change nothing. */
const UNUSED = ["fast_path_delete"];

const used = (schema: Parameters<typeof fieldDocs>[0]): readonly KeyRow[] =>
  fieldDocs(schema).map(({ path, doc }) => ({
    key: path,
    verdict: UNUSED.includes(path) ? "not used" : "used",
    what: doc,
  }));

const rows = (keys: Readonly<Record<string, string>>, verdict: KeyRow["verdict"]): readonly KeyRow[] =>
  Object.entries(keys).map(([key, what]) => ({ key, verdict, what }));

/** Every key that upstream's CPI takes, and what becomes of it here. */
export const KEY_TABLES: readonly KeyTable[] = [
  { title: "Configuration: `aws`", rows: used(awsConfig) },
  { title: "VM types and VM extensions", rows: used(open(vmFields)) },
  { title: "Disk types", rows: used(open(diskFields)) },
  { title: "Networks", rows: used(open(networkFields)) },
  {
    title: "Stemcells",
    rows: [
      ...used(open(stemcellFields)),
      ...rows(HEAVY_ONLY, "not used"),
      ...rows(REFUSED.stemcell, "refused"),
    ],
  },
];
