/** Upstream's commands that are still to come, with their short names. */
export const NOT_YET: ReadonlySet<string> = new Set(["pcap"]);
