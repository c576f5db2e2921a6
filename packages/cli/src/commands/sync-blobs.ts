import { systemExec } from "@slipway/kernel/exec";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway sync-blobs` */
export const syncBlobs: Command = {
  name: "sync-blobs",
  summary: "bring the blobs of a release from its blobstore into blobs/",
  topic: "release authors",
  options: [dirOption],
  examples: [["slipway sync-blobs --dir shop-release", "create-release does it too"]],
  async run(given, tools) {
    const [{ openReleaseDirectory }, { syncBlobs: sync }] = await Promise.all([
      import("../releases/release-directory.ts"),
      import("../releases/blobs.ts"),
    ]);
    const { ui } = tools;
    const { dir, store } = await openReleaseDirectory(given.text("dir"), { ...tools, exec: systemExec });
    await sync(dir, store, {
      finished: ({ path, blobstoreId }) => {
        if (!ui.json) ui.line(`Blob download '${path}' (id: ${blobstoreId}) finished`);
      },
    });
    return 0;
  },
};
