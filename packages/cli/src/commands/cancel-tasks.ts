import type { Command } from "../command.ts";

export const cancelTasks: Command = {
  name: "cancel-tasks",
  aliases: ["cts"],
  summary: "cancel tasks that wait, or that run, at their next steps",
  topic: "inspect",
  options: [
    {
      flags: "-t, --type <type>",
      about: "only of this type: update_deployment, run_errand...",
      repeats: true,
    },
    { flags: "-s, --state <state>", about: "queued or processing; default: queued", repeats: true },
  ],
  examples: [
    ["slipway -d shop cancel-tasks", "of a deployment that wait"],
    ["slipway cancel-tasks -s processing -t run_errand", "errands that run"],
  ],
  async run(given, { director, deployment }) {
    const api = await director();
    const listed = (values: readonly string[]) => (values.length === 0 ? undefined : values);
    const body = JSON.stringify({
      deployment,
      states: listed(given.texts("state")),
      types: listed(given.texts("type")),
    });
    await api.text({ method: "POST", path: "/tasks/cancel", contentType: "application/json", body });
    return 0;
  },
};
