import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";
import { sizeText } from "../ui/size-text.ts";

/** `slipway blobs` */
export const blobs: Command = {
  name: "blobs",
  summary: "list the blobs of a release",
  topic: "release authors",
  options: [dirOption],
  examples: [["slipway blobs --dir shop-release", "(local): not uploaded yet"]],
  async run(given, { ui }) {
    const { readBlobs } = await import("../releases/blobs.ts");
    const found = await readBlobs(resolve(given.text("dir") ?? "."));
    ui.table({
      content: "blobs",
      header: { path: "Path", size: "Size", blobstore_id: "Blobstore ID", digest: "Digest" },
      rows: found.map(({ path, size, blobstoreId, digest }) => [
        ...[path, sizeText(size), blobstoreId ?? "(local)", digest],
      ]),
    });
    return 0;
  },
};
