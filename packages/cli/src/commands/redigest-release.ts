import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { expanded } from "../interpolate/read-text.ts";

/** `slipway sha1ify-release` */
export const sha1ifyRelease = command("sha1ify-release", "sha1");
/** `slipway sha2ify-release` */
export const sha2ifyRelease = command("sha2ify-release", "sha256");

function command(name: string, algorithm: "sha1" | "sha256"): Command {
  return {
    name,
    summary: `write a release's tarball again, with digests of ${algorithm.toUpperCase()}`,
    topic: "release authors",
    arguments: [
      { name: "<path>", about: "the tarball" },
      { name: "<destination>", about: "the one that is written" },
    ],
    examples: [[`slipway ${name} shop.tgz shop-${algorithm}.tgz`, ""]],
    async run(given, { ui, random, stop }) {
      const [{ withTarball }, { redigested }, { writeReleaseTarball }, { showRelease }] = await Promise.all([
        import("../releases/open-tarball.ts"),
        import("../releases/redigest.ts"),
        import("../releases/write-tarball.ts"),
        import("../releases/tables.ts"),
      ]);
      const to = resolve(expanded(given.argument(1) ?? ""));
      await withTarball(resolve(expanded(given.argument(0) ?? "")), stop, async (found) => {
        const release = await redigested(found, algorithm);
        await writeReleaseTarball(to, release, random);
        showRelease(ui, release, to);
      });
      return 0;
    },
  };
}
