import type { ApiRequest } from "./director-api.ts";

/** The path with its query; what is undefined is left out. */
export function requestPath({ path, query = {} }: ApiRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}

/** Encodes one segment of a path. `+` and `*` stay as they are, as upstream sends them. */
export const pathSegment = (text: string): string => encodeURIComponent(text).replaceAll("%2B", "+");

/** Names a request in errors, without its query, which may be long. */
export const requestName = ({ method, path }: ApiRequest): string => `${method} ${path}`;
