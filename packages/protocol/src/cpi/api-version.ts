import { integer } from "../schema/json.ts";

export const API_VERSIONS = [1, 2, 3] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];
export const NEWEST_API_VERSION: ApiVersion = 3;

export const apiVersionNumber = integer(1, "api_version");

/** The newest contract we know that a peer of version `n` understands. */
export const knownVersion = (n: number): ApiVersion => (n >= 3 ? 3 : n >= 2 ? 2 : 1);
