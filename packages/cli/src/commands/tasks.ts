import { listTasks } from "../api/tasks.ts";
import type { Command, TypedInput } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";
import { dateText } from "../ui/time-text.ts";

const RECENT = 30;

export const tasks: Command = {
  name: "tasks",
  aliases: ["ts"],
  summary: "list tasks that run, or recent ones",
  topic: "inspect",
  options: [
    { flags: "-r, --recent [number]", about: `the newest ones (${RECENT})` },
    { flags: "-a, --all", about: "also listings and the like" },
  ],
  examples: [["slipway tasks --recent", "also those that have ended"]],
  async run(given, { ui, director, deployment }) {
    const recent = recentOf(given);
    // What runs now is shown whole, as upstream does.
    const all = recent === undefined || given.flag("all");
    const found = await listTasks(await director(), { deployment, all, recent });
    ui.table({
      content: "tasks",
      header: {
        id: "ID",
        state: "State",
        started_at: "Started At",
        finished_at: "Finished At",
        user: "User",
        deployment: "Deployment",
        description: "Description",
        result: "Result",
      },
      rows: found.map((one) => [
        String(one.id),
        ["error", "timeout", "cancelled"].includes(one.state) ? ui.paint.red(one.state) : one.state,
        one.started_at ? dateText(one.started_at) : "",
        one.timestamp ? dateText(one.timestamp) : "-",
        one.user ?? "",
        one.deployment ?? "",
        one.description ?? "",
        one.result ?? "",
      ]),
    });
    return 0;
  },
};

function recentOf(given: TypedInput): number | undefined {
  if (!given.flag("recent")) return undefined;
  const text = given.text("recent") ?? String(RECENT);
  if (!/^[1-9]\d{0,5}$/.test(text)) throw BadArgument({ given: text, what: "a number of tasks" });
  return Number(text);
}
