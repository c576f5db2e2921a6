import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { type Fields, fieldsOf, MISSING, mapsOf, WRONG_TYPE } from "../documents/fields.ts";
import { newReport, type PlanProblem, problemsError, type Report, shown } from "../documents/problems.ts";
import { kindOf, own } from "../documents/tree.ts";
import type { CpiName } from "../model/names.ts";
import { checkWord } from "./canonical.ts";

/** One CPI of a CPI config, as it is written: variables have no values yet. */
export interface WrittenCpi extends Omit<ConfiguredCpi, "properties"> {
  /** A text is one variable that stands for all of them: `((/name))`. */
  readonly properties: JsonObject | string;
}

/** One CPI of a CPI config. */
export interface ConfiguredCpi {
  readonly name: CpiName;
  /** Selects the program if no path is set. */
  readonly type: string;
  readonly execPath: string | undefined;
  /** Merged into the context of every call. Credentials among them. */
  readonly properties: JsonObject;
  /** Names it was recorded under before; `''` is the Director's own CPI. */
  readonly migratedFrom: readonly CpiName[];
}

export type ParsedCpiConfig =
  | { readonly ok: true; readonly cpis: readonly WrittenCpi[] }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

const BAD_MANIFEST = 440001;
const DUPLICATE_CPI = 550000;

/** All current CPI configs: their lists one after the other. Values are never quoted: any may be a secret. */
export function parseCpiConfig(values: readonly unknown[]): ParsedCpiConfig {
  const report = newReport();
  const cpis = values.flatMap((value) => readConfig(report, value));
  refuseDuplicates(report, cpis);
  return report.problems.length > 0 ? { ok: false, problems: report.problems } : { ok: true, cpis };
}

function readConfig(report: Report, value: unknown): readonly WrittenCpi[] {
  if (!isObject(value)) {
    report.add(BAD_MANIFEST, "", `a CPI config must be a map, found ${kindOf(value)}`, "Upload it again.");
    return [];
  }
  const fields = fieldsOf(report, value, "");
  need(fields, "cpis", "List the CPIs: cpis: [{name: a, type: b}].");
  return mapsOf(report, fields.list("cpis"), "cpis").flatMap((one) => readCpi(report, one));
}

function readCpi(report: Report, fields: Fields): readonly WrittenCpi[] {
  need(fields, "name", "Give it a name.");
  need(fields, "type", "Name its type, such as docker.");
  const name = fields.text("name");
  const type = fields.text("type");
  if (type !== undefined && !/^[\w.-]+$/.test(type))
    fields.wrong(
      WRONG_TYPE,
      "type",
      `'${shown(type)}' is no type of CPI`,
      "Use letters, digits, '-', '_' and '.'.",
    );
  const execPath = fields.text("exec_path");
  const written = own(fields.map, "properties");
  const properties = isWhole(written) ? written : (fields.object("properties") ?? {});
  const migratedFrom = mapsOf(report, fields.list("migrated_from"), fields.at("migrated_from")).flatMap(
    (before) => readName(before),
  );
  if (name !== undefined) checkWord(fields, name);
  if (name === undefined || type === undefined) return [];
  return [{ name, type, execPath, properties, migratedFrom }];
}

const isWhole = (value: unknown): value is string =>
  typeof value === "string" && /^\(\([^()]+\)\)$/.test(value);

/** Returns the CPI with the values of its properties. Refuses a variable that stands for all of them and is no map. */
export function withProperties(cpi: WrittenCpi, properties: unknown): ConfiguredCpi {
  if (isObject(properties)) return { ...cpi, properties: properties as JsonObject };
  const problem = `the value of the variable of its properties is ${kindOf(properties)}, and has to be a map`;
  const fix = "Set another value for the variable, or name another variable.";
  throw problemsError("the CPI config cannot be used", [
    { code: WRONG_TYPE, where: `cpis[${shown(cpi.name)}].properties`, problem, fix },
  ]);
}

/** May be empty: then it is the Director's own CPI. */
function readName(fields: Fields): readonly CpiName[] {
  need(fields, "name", "Name the CPI of before; '' is the Director's own.");
  if (own(fields.map, "name") === "") return [""];
  const name = fields.text("name");
  return name === undefined ? [] : [name];
}

function need(fields: Fields, key: string, fix: string): void {
  if (!fields.has(key))
    fields.wrong(MISSING, key, `Required property '${key}' was not specified in object`, fix);
}

/** Names of today and names of before are of one kind: each means one CPI. */
function refuseDuplicates(report: Report, cpis: readonly WrittenCpi[]): void {
  const seen = new Set<CpiName>();
  for (const { name, migratedFrom } of cpis)
    for (const one of [...migratedFrom, name]) {
      if (seen.has(one))
        report.add(
          DUPLICATE_CPI,
          `cpis[${shown(name)}]`,
          `Duplicate cpi name '${shown(one)}'`,
          "Rename or remove one of them; names in migrated_from count, too.",
        );
      seen.add(one);
    }
}
