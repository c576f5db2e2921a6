import { pathSegment } from "../api/request-path.ts";
import { runDeletion } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import { listStemcells } from "../uploads/list-stemcells.ts";

export const deleteStemcell: Command = {
  name: "delete-stemcell",
  aliases: ["dels"],
  summary: "delete a stemcell that no deployment uses",
  topic: "configuration",
  arguments: [{ name: "<stemcell>", about: "name/version", completes: "stemcell" }],
  options: [{ flags: "--force", about: "go on past errors" }],
  examples: [["slipway delete-stemcell slipway-local/1.0", ""]],
  async run(given, { ui, director }) {
    const api = await director();
    const asked = given.argument(0) ?? "";
    const [name = "", version = "", ...more] = asked.split("/");
    if (name === "" || version === "" || more.length > 0)
      throw BadArgument({ given: asked, what: "a stemcell: name/version" });
    await requireConfirmation(ui);
    await runDeletion(
      api,
      {
        method: "DELETE",
        path: `/stemcells/${pathSegment(name)}/${pathSegment(version)}`,
        query: { force: given.flag("force") ? "true" : undefined },
      },
      async () => (await listStemcells(api)).some((one) => one.name === name && one.version === version),
    );
    return 0;
  },
};
