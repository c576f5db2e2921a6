const HOUR = 3600_000;
/** Images and snapshots are copied. */
const LONG = ["create_stemcell", "snapshot_disk"];

/** Default for how long a method of a CPI may take, on both sides of the contract. */
export const methodDeadlineMs = (method: string): number => (LONG.includes(method) ? 4 * HOUR : HOUR);
