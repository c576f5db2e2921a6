import type { DirectorApi } from "../api/director-api.ts";
import { listTasks } from "../api/tasks.ts";
import type { Command, TypedInput } from "../command.ts";
import { Contradiction } from "../parse/errors.ts";
import { taskNumber } from "../parse/task-number.ts";
import type { Tools } from "../tools.ts";
import { Missing } from "./errors.ts";

const KINDS = ["event", "cpi", "debug", "result"] as const;
type Kind = (typeof KINDS)[number];

export const task: Command = {
  name: "task",
  aliases: ["t"],
  summary: "follow a task, or show one of its logs",
  topic: "inspect",
  arguments: [{ name: "[id]", about: "of the task; without it the newest that runs", completes: "task" }],
  options: [
    { flags: "--event", about: "its events as they are stored" },
    { flags: "--cpi", about: "what CPIs were asked and answered" },
    { flags: "--debug", about: "the Director's log" },
    { flags: "--result", about: "what it hands back" },
    { flags: "-a, --all", about: "without an id: also listings and the like" },
  ],
  examples: [
    ["slipway task 12", "follow it, or see how it ended"],
    ["slipway task 12 --debug", "what the Director did"],
    ["slipway task 12 --cpi", "every call to the CPI and its answer"],
  ],
  async run(given, tools) {
    const kind = kindOf(given);
    const api = await tools.director();
    const id = await idOf(api, given, tools);
    const raw = kind && { type: kind, print: (text: string) => tools.ui.block(text) };
    await api.follow(id, raw === undefined ? {} : { raw });
    return 0;
  },
};

function kindOf(given: TypedInput): Kind | undefined {
  const asked = KINDS.filter((kind) => given.flag(kind));
  if (asked.length > 1) throw Contradiction({ problem: `--${asked.join(" and --")} exclude each other` });
  return asked[0];
}

async function idOf(api: DirectorApi, given: TypedInput, { deployment }: Tools): Promise<number> {
  const asked = given.argument(0);
  if (asked !== undefined) return taskNumber(asked);
  const [newest] = await listTasks(api, { deployment, all: given.flag("all"), recent: undefined });
  if (newest === undefined) throw Missing({ what: "task that runs" });
  return newest.id;
}
