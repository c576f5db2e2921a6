import * as v from "valibot";

/** States whether a disk has all its space from the start, in the words of vSphere's CPI. */
export const provisioning = v.picklist(["preallocated", "thin"], "provisioning must be preallocated or thin");
export type Provisioning = v.InferOutput<typeof provisioning>;
