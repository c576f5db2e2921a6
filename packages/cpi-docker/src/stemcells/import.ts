import type { DockerCloudContext } from "../cloud-context.ts";
import { refused } from "../engine/engine.ts";
import { textOf } from "../engine/http.ts";
import { BadImage } from "../errors.ts";
import type { Labels } from "../labels.ts";
import { checkedImage } from "./checked-image.ts";
import { referenceOf, type Tag } from "./images.ts";
import { errorIn } from "./light.ts";

export interface RootImage {
  readonly imagePath: string;
  readonly kind: "tar" | "tar.gz";
  readonly command: readonly string[];
  readonly labels: Labels;
}

/**
 * Sends a root file system to the engine as it is on the disk. The name is given to it when it is whole. One that turns
 * out to be hostile or cut off is not sent to its end, and the engine drops what it has.
 */
export async function importRoot({ engine }: DockerCloudContext, root: RootImage, to: Tag): Promise<void> {
  const labels = Object.entries(root.labels).map(([key, value]) => `LABEL ${key}=${JSON.stringify(value)}`);
  const reply = await engine.attempt({
    doing: "importing the stemcell",
    method: "POST",
    path: "/images/create",
    // Podman takes no `tag` beside it.
    query: {
      fromSrc: "-",
      repo: referenceOf(to),
      changes: [`CMD ${JSON.stringify(root.command)}`, ...labels],
    },
    body: checkedImage(root.imagePath, root.kind),
  });
  if (refused(reply)) throw BadImage({ why: `the engine says: ${reply.said}` });
  const failed = errorIn(await textOf(reply));
  if (failed !== undefined) throw BadImage({ why: `the engine says: ${failed}` });
}
