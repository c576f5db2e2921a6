import type { ManifestSketch } from "../director/manifests.ts";

const GROUPS = 10;
/** Instances updated at once: the Director's default. */
const IN_FLIGHT = 32;

/** Ten groups; every other one with a persistent disk. */
export const sketchOf = (instances: number): ManifestSketch => ({
  name: "bench",
  inFlight: IN_FLIGHT,
  groups: Array.from({ length: GROUPS }, (_, at) => ({
    name: `group-${at}`,
    instances: Math.floor(instances / GROUPS) + (at < instances % GROUPS ? 1 : 0),
    ...(at % 2 === 1 && { disk: "d1" }),
  })),
});
