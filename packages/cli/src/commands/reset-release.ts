import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway reset-release` */
export const resetRelease: Command = {
  name: "reset-release",
  summary: "forget the dev releases of a release directory, and the blobs that were fetched",
  topic: "release authors",
  options: [dirOption],
  examples: [["slipway reset-release --dir shop-release", "blobs that are not uploaded yet are gone then"]],
  async run(given, { ui }) {
    const [{ readConfig, nameIn }, { readBlobs }, { requireConfirmation }] = await Promise.all([
      import("../releases/config.ts"),
      import("../releases/blobs.ts"),
      import("../ui/require-confirmation.ts"),
    ]);
    const dir = resolve(given.text("dir") ?? ".");
    nameIn(await readConfig(dir), dir);
    const only = (await readBlobs(dir)).filter(({ blobstoreId }) => blobstoreId === undefined);
    if (only.length > 0)
      await requireConfirmation(
        ui,
        `${only.map(({ path }) => path).join(", ")}: not uploaded yet, gone then. Continue?`,
      );
    for (const name of [".dev_builds", "dev_releases", ".blobs", "blobs"])
      await rm(join(dir, name), { recursive: true, force: true });
    return 0;
  },
};
