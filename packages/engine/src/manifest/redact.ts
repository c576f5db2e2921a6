import { isObject } from "@slipway/protocol/schema/json";
import { newMap } from "../documents/tree.ts";

const REDACTED = "<redacted>";
const SECRET_KEYS = new Set(["properties", "bosh"]);

/** A copy for people's eyes: no leaf of a map under `properties` or `bosh`, no credentials in URLs of releases. */
export function redact(document: unknown): unknown {
  return hide(document, "");
}

function hide(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => (key === "releases" && isObject(item) ? hideRelease(item) : hide(item, "")));
  }
  return isObject(value) ? mapValues(value, hideEntry) : value;
}

const hideEntry = (key: string, value: unknown): unknown =>
  SECRET_KEYS.has(key) && isObject(value) ? blank(value) : hide(value, key);

const hideRelease = (release: object) =>
  mapValues(release as Record<string, unknown>, (key, value) =>
    key === "url" && typeof value === "string" ? hideCredentials(value) : hideEntry(key, value),
  );

function blank(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blank);
  return isObject(value) ? mapValues(value, (_, inner) => blank(inner)) : REDACTED;
}

const hideCredentials = (url: string): string =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${REDACTED}:${REDACTED}@`);

function mapValues(map: Record<string, unknown>, change: (key: string, value: unknown) => unknown) {
  const result = newMap();
  for (const key of Object.keys(map)) result[key] = change(key, map[key]);
  return result;
}
