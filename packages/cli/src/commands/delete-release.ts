import { pathSegment } from "../api/request-path.ts";
import { runDeletion } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import { listReleases } from "../uploads/list-releases.ts";
import { releaseOrSeries } from "../uploads/release-slug.ts";

/** `slipway delete-release` */
export const deleteRelease: Command = {
  name: "delete-release",
  aliases: ["delr"],
  summary: "delete a release that no deployment uses",
  topic: "configuration",
  arguments: [{ name: "<release>", about: "name/version; name alone is all its versions" }],
  options: [{ flags: "--force", about: "go on past errors" }],
  examples: [["slipway delete-release shop/1.2.0", ""]],
  async run(given, { ui, director }) {
    const asked = given.argument(0) ?? "";
    const { name, version } = releaseOrSeries(asked);
    const api = await director();
    await requireConfirmation(ui);
    const there = async () =>
      (await listReleases(api)).some(
        (one) => one.name === name && (version === undefined || one.version === version),
      );
    if (!(await there())) {
      ui.line(`Release '${asked}' does not exist.`);
      return 0;
    }
    const force = given.flag("force") ? "true" : undefined;
    await runDeletion(
      api,
      { method: "DELETE", path: `/releases/${pathSegment(name)}`, query: { version, force } },
      there,
    );
    return 0;
  },
};
