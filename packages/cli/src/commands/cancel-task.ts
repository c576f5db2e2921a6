import type { Command } from "../command.ts";
import { taskNumber } from "../parse/task-number.ts";

export const cancelTask: Command = {
  name: "cancel-task",
  aliases: ["ct"],
  summary: "cancel a task at its next step",
  topic: "inspect",
  arguments: [{ name: "<id>", about: "number of the task", completes: "task" }],
  examples: [["slipway cancel-task 12", "at its next step"]],
  async run(given, { director }) {
    const api = await director();
    // The Director's path of cancelling is singular.
    await api.text({ method: "DELETE", path: `/task/${taskNumber(given.argument(0) ?? "")}` });
    return 0;
  },
};
