import { info } from "@slipway/protocol/director/info";
import { type Task, task as taskEntry } from "@slipway/protocol/director/task";
import type { DirectorApi } from "../api/director-api.ts";
import { listTasks } from "../api/tasks.ts";
import type { Command } from "../command.ts";
import type { Conversation } from "../explain/read.ts";
import { BadArgument } from "../parse/errors.ts";
import { taskNumber } from "../parse/task-number.ts";
import type { Tools } from "../tools.ts";
import { Missing } from "./errors.ts";

/** So many of the newest tasks are looked at for some that changed something. */
const LOOKED_AT = 30;

export const explain: Command = {
  name: "explain",
  summary: "show what the Director, the CPI and the agents said to each other",
  topic: "inspect",
  options: [
    { flags: "--task <id>", about: "of this task", completes: "task" },
    { flags: "--last <number>", about: "of so many of the newest tasks that changed something (default 1)" },
  ],
  examples: [
    ["slipway -d shop explain", "the last task that changed something"],
    ["slipway explain --task 12", ""],
  ],
  async run(given, tools) {
    const { ui, director, deployment } = tools;
    const task = given.text("task");
    const asked = task === undefined ? undefined : taskNumber(task);
    const count = countOf(given.text("last") ?? "1");
    const api = await director();
    const { cpi } = await api.json({ method: "GET", path: "/info" }, info);
    const found =
      asked === undefined
        ? await newest(api, deployment, count)
        : [await withConversation(api, await oneTask(api, asked))];
    if (found.length === 0)
      throw Missing({
        what: deployment === undefined ? "task yet" : `task of deployment '${deployment}' yet`,
      });
    for (const [at, one] of found.entries()) {
      if (at > 0 && !ui.json) ui.line("");
      await show(one, shortName(cpi ?? ""), { ui });
    }
    return 0;
  },
};

interface Talked {
  readonly task: Task;
  readonly conversation: Conversation;
}

async function show({ task, conversation }: Talked, cpi: string, { ui }: Pick<Tools, "ui">): Promise<void> {
  const { summaryLines, sequenceLines } = await import("../explain/sequence.ts");
  const { wrapped } = await import("../ui/wrap.ts");
  const of = (task.deployment ?? "") === "" ? "" : ` of ${task.deployment}`;
  ui.line(ui.paint.bold(`Task ${task.id}: ${task.description ?? ""}${of} (${task.state})`));
  if (conversation.calls.length === 0) {
    ui.line("Nothing was said to a CPI or an agent, or it is no longer kept.");
    return;
  }
  if (ui.json) {
    const { callsTable } = await import("../explain/table.ts");
    ui.table(callsTable(conversation, task.id, cpi));
    for (const line of summaryLines(conversation)) ui.line(line);
    return;
  }
  const { columns, paint } = ui;
  for (const line of sequenceLines(conversation, { cpi, columns, paint })) ui.line(line);
  ui.line("");
  for (const sentence of summaryLines(conversation))
    for (const line of wrapped(sentence, columns)) ui.line(line);
}

/** Returns the newest tasks that changed something, in the order in which they ran; if there are none, the newest of all. */
async function newest(
  api: DirectorApi,
  deployment: string | undefined,
  count: number,
): Promise<readonly Talked[]> {
  const { changes } = await import("../explain/read.ts");
  const tasks = await listTasks(api, { deployment, all: false, recent: LOOKED_AT });
  const found: Talked[] = [];
  let first: Talked | undefined;
  for (const task of tasks) {
    if (found.length >= count) break;
    const talked = await withConversation(api, task);
    first ??= talked;
    if (changes(talked.conversation)) found.push(talked);
  }
  if (found.length > 0) return found.reverse();
  return first === undefined ? [] : [first];
}

const oneTask = (api: DirectorApi, id: number): Promise<Task> =>
  api.json({ method: "GET", path: `/tasks/${id}` }, taskEntry);

async function withConversation(api: DirectorApi, task: Task): Promise<Talked> {
  const { readConversation } = await import("../explain/read.ts");
  return { task, conversation: readConversation(await api.output(task.id, "conversation")) };
}

function countOf(given: string): number {
  if (!/^[1-9]\d{0,8}$/.test(given)) throw BadArgument({ given, what: "a number of tasks" });
  return Number(given);
}

/** A CPI that is an executable is named by its path. */
const shortName = (cpi: string): string => cpi.slice(cpi.lastIndexOf("/") + 1);
