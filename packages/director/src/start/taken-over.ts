import { isDeepStrictEqual } from "node:util";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";

/** The keys that a running Director takes over. Of all others it goes by what they were at its start. */
export const TAKEN_OVER: readonly string[] = [
  "users",
  "listen.certificate",
  "listen.private_key",
  "listen.ca",
  "logging",
  "proxy",
  "tracing",
];

/** The keys that differ and are not taken over, such as `name` and `director.workers`. */
export function takeRestart(started: DirectorConfig, changed: DirectorConfig): readonly string[] {
  const [before, now] = [placesOf(started), placesOf(changed)];
  return [...new Set([...before.keys(), ...now.keys()])]
    .filter((place) => !TAKEN_OVER.some((taken) => place === taken || place.startsWith(`${taken}.`)))
    .filter((place) => !isDeepStrictEqual(before.get(place), now.get(place)))
    .sort();
}

/** Returns the settings, two levels deep: keys further below are free. */
const placesOf = (config: DirectorConfig): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries(config).flatMap(([key, value]): (readonly [string, unknown])[] =>
      typeof value !== "object" || Array.isArray(value)
        ? [[key, value]]
        : Object.entries(value).map(([inner, one]) => [`${key}.${inner}`, one]),
    ),
  );
