import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

/** Ours: upstream's operators change variables and deploy several times. */
export const rotateNatsCa: Command = {
  name: "rotate-nats-ca",
  summary: "let another authority sign for the NATS server and its agents, without recreating a VM",
  topic: "configuration",
  examples: [["slipway rotate-nats-ca", "goes on by itself while an agent is away"]],
  async run(_given, { ui, director }) {
    const api = await director();
    await requireConfirmation(ui);
    await runTask(api, { method: "POST", path: "/nats/authorities" });
    return 0;
  },
};
