import { systemExec } from "@slipway/kernel/exec";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";
import { sizeText } from "../ui/size-text.ts";

/** `slipway upload-blobs` */
export const uploadBlobs: Command = {
  name: "upload-blobs",
  summary: "put the blobs of a release into its blobstore",
  topic: "release authors",
  options: [dirOption],
  examples: [["slipway upload-blobs --dir shop-release", "then commit config/blobs.yml"]],
  async run(given, tools) {
    const [{ openReleaseDirectory }, { uploadBlobs: upload }] = await Promise.all([
      import("../releases/release-directory.ts"),
      import("../releases/track-blobs.ts"),
    ]);
    const { ui } = tools;
    const { dir, store } = await openReleaseDirectory(given.text("dir"), { ...tools, exec: systemExec });
    await upload(dir, store, async ({ path, size }, work) => {
      if (ui.json) return await work();
      const progress = ui.progress(`Blob upload '${path}' (${sizeText(size)})`);
      try {
        const id = await work();
        progress.done(`Blob upload '${path}' (id: ${id}) finished`);
        return id;
      } catch (error) {
        progress.failed(`Blob upload '${path}' failed`);
        throw error;
      }
    });
    return 0;
  },
};
