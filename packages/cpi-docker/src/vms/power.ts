import type { Cloud } from "../cloud.ts";
import { putFiles } from "../engine/archive.ts";

/**
 * A container that ends is started again by its restart policy, so an agent that is told to shut down cannot end it. The
 * stemcell's init writes `off` here instead, ends everything else, and stays off over restarts until this says `on`.
 */
const POWER = "var/lib/slipway/power";

export const switchOn = ({ engine }: Cloud, cid: string): Promise<void> =>
  putFiles(engine, cid, [{ name: POWER, content: "on\n", mode: 0o644 }], `switching '${cid}' on`);
