import {
  byteUnitNext,
  type Cursor,
  durationNext,
  keyword,
  numberNext,
  operatorNext,
  percentNext,
} from "./cursor.ts";
import type { MonitAmount, MonitResource, ResourceLimit, ServiceKind } from "./model.ts";

const RESOURCE_WORDS: Readonly<Record<string, MonitResource>> = {
  cpu: "cpu",
  totalcpu: "totalcpu",
  mem: "mem",
  memory: "mem",
  totalmem: "totalmem",
  totalmemory: "totalmem",
  children: "children",
  child: "children",
  loadavg: "loadavg1",
  load: "loadavg1",
  swap: "swap",
  uptime: "uptime",
  threads: "threads",
};

export function resourceAt(cursor: Cursor): MonitResource | undefined {
  const word = keyword(cursor.peek());
  return Object.hasOwn(RESOURCE_WORDS, word) ? RESOURCE_WORDS[word] : undefined;
}

/** Several limits may stand in one test. */
export function resourcesNext(cursor: Cursor, kind: ServiceKind): readonly ResourceLimit[] {
  const limits: ResourceLimit[] = [];
  for (let found = resourceAt(cursor); found !== undefined; found = resourceAt(cursor)) {
    cursor.next();
    const resource = refined(cursor, found, kind);
    const operator = operatorNext(cursor);
    const limit: MonitAmount =
      resource === "uptime"
        ? { value: durationNext(cursor, "the uptime"), unit: "number" }
        : amountNext(cursor);
    limits.push({ resource, operator, limit: inUnitOf(resource, limit) });
  }
  return limits;
}

/** `loadavg(5min)`, `cpu(user)`: parentheses are blanks to monit's reader. */
function refined(cursor: Cursor, resource: MonitResource, kind: ServiceKind): MonitResource {
  const minutes = /^(1|5|15)(m|min)?$/.exec(cursor.peek().text)?.[1];
  if (resource === "loadavg1" && minutes !== undefined) {
    cursor.next();
    cursor.take("m", "min");
    return `loadavg${minutes as "1" | "5" | "15"}`;
  }
  if (resource !== "cpu" || kind !== "system") return resource;
  if (cursor.take("us", "usr", "user")) return "cpuuser";
  if (cursor.take("sy", "sys", "system")) return "cpusystem";
  if (cursor.take("wa", "wait")) return "cpuwait";
  return resource;
}

export function amountNext(cursor: Cursor): MonitAmount {
  const value = numberNext(cursor, "the limit");
  if (percentNext(cursor)) return { value, unit: "percent" };
  const factor = byteUnitNext(cursor);
  if (factor !== undefined) return { value: (value * factor) / 1024, unit: "kb" };
  return { value, unit: "number" };
}

/** Memory without a unit is in bytes. */
const inUnitOf = (resource: MonitResource, limit: MonitAmount): MonitAmount =>
  ["mem", "totalmem", "swap"].includes(resource) && limit.unit === "number"
    ? { value: limit.value / 1024, unit: "kb" }
    : limit;
