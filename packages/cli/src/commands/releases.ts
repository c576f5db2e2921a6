import type { Command } from "../command.ts";
import { listReleases } from "../uploads/list-releases.ts";

/** `slipway releases` */
export const releases: Command = {
  name: "releases",
  aliases: ["rs"],
  summary: "list releases",
  topic: "configuration",
  async run(_given, { ui, director }) {
    const all = await listReleases(await director());
    ui.table({
      content: "releases",
      header: { name: "Name", version: "Version", commit_hash: "Commit Hash" },
      rows: all.map((one) => [
        one.name,
        one.version + (one.currently_deployed ? "*" : ""),
        (one.commit_hash ?? "") + (one.uncommitted_changes ? "+" : ""),
      ]),
      notes: ["(*) Currently deployed", "(+) Uncommitted changes"],
    });
    return 0;
  },
};
