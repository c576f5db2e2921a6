import { pathSegment } from "../api/request-path.ts";
import { runDeletion } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import { isListed } from "./networks.ts";

export const deleteNetwork: Command = {
  name: "delete-network",
  summary: "delete an orphaned network",
  topic: "configuration",
  arguments: [{ name: "<name>", about: "name of the network, as `networks --orphaned` shows it" }],
  examples: [["slipway delete-network private", "once no deployment uses it"]],
  async run(given, { ui, director }) {
    const api = await director();
    const name = given.argument(0) ?? "";
    await requireConfirmation(ui);
    const request = { method: "DELETE", path: `/networks/${pathSegment(name)}` } as const;
    await runDeletion(api, request, () => isListed(api, name));
    return 0;
  },
};
