import { createReadStream } from "node:fs";
import type { Cloud } from "../cloud.ts";
import { refused } from "../engine/engine.ts";
import { textOf } from "../engine/http.ts";
import { BadImage } from "../errors.ts";
import type { Labels } from "../labels.ts";
import type { Tag } from "./images.ts";
import { errorIn } from "./light.ts";

export interface RootImage {
  readonly imagePath: string;
  readonly command: readonly string[];
  readonly labels: Labels;
}

const CHUNK = 256 * 1024;

/** Sends a root file system to the engine as it is on the disk. The name is given to it when it is whole. */
export async function importRoot({ engine }: Cloud, root: RootImage, to: Tag): Promise<void> {
  const labels = Object.entries(root.labels).map(([key, value]) => `LABEL ${key}=${JSON.stringify(value)}`);
  const reply = await engine.attempt({
    doing: "importing the stemcell",
    method: "POST",
    path: "/images/create",
    query: { fromSrc: "-", ...to, changes: [`CMD ${JSON.stringify(root.command)}`, ...labels] },
    body: createReadStream(root.imagePath, { highWaterMark: CHUNK }),
  });
  if (refused(reply)) throw BadImage({ why: `the engine says: ${reply.said}` });
  const failed = errorIn(await textOf(reply));
  if (failed !== undefined) throw BadImage({ why: `the engine says: ${failed}` });
}
