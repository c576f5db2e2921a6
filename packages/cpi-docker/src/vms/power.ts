import type { DockerCloudContext } from "../cloud-context.ts";
import { putFiles } from "../engine/archive.ts";
import { PLACES } from "../image-files.ts";

/**
 * A container that ends is started again by its restart policy, so an agent that gets `shutdown` cannot end it. The
 * stemcell's init writes `off` here instead, ends everything else, and stays off over restarts until this says `on`.
 */
export const switchOn = ({ engine }: DockerCloudContext, cid: string): Promise<void> =>
  putFiles(engine, cid, [{ name: PLACES.power, content: "on\n", mode: 0o644 }], `switching '${cid}' on`);
