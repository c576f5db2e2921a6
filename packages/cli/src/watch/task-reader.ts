import { type Task as TaskWire, task as taskWire } from "@slipway/protocol/director/task";
import { refusalOf } from "../api/refusal.ts";
import { listTasks } from "../api/tasks.ts";
import type { WatchedTask } from "./model.ts";
import type { ReaderTools } from "./reader.ts";
import { TaskProgress } from "./task-progress.ts";

/** Maximum number of tasks whose progress is followed at once. */
const MOST_FOLLOWED = 8;
/** How long one that has ended is still shown. */
const LINGER_MS = 30_000;

/** The tasks under way, each with its progress, and those that have just ended. */
export class TaskReader {
  readonly #tools: ReaderTools;
  readonly #followed = new Map<number, TaskProgress>();
  #running = new Map<number, WatchedTask>();
  #ended: readonly WatchedTask[] = [];

  constructor(tools: ReaderTools) {
    this.#tools = tools;
  }

  async look(): Promise<readonly WatchedTask[]> {
    const { api, clock, deployment } = this.#tools;
    const found = await listTasks(api, { deployment, all: false, recent: undefined });
    // The one that began first is the one that the others wait for.
    const running = [...found].reverse();
    const now = new Map<number, WatchedTask>();
    let room = MOST_FOLLOWED;
    for (const one of running) {
      const follows = one.state !== "queued" && room-- > 0;
      now.set(one.id, taskOf(one, follows ? await this.#progress(one.id) : undefined));
    }
    const over: WatchedTask[] = [];
    for (const before of this.#running.values())
      if (!now.has(before.id)) over.push(await this.#endOf(before));
    this.#running = now;
    const since = clock.now() - LINGER_MS;
    this.#ended = [...this.#ended, ...over].filter(({ ended = 0 }) => ended > since);
    return [...this.#ended, ...now.values()];
  }

  async #progress(id: number): Promise<TaskProgress> {
    const known = this.#followed.get(id) ?? new TaskProgress();
    this.#followed.set(id, known);
    try {
      const { status, text } = await this.#tools.api.raw({
        method: "GET",
        path: `/tasks/${id}/output`,
        query: { type: "event" },
        headers: { range: `bytes=${known.bytes}-` },
      });
      // A Director that does not know ranges sends everything each time.
      if (status === 200) known.add(Buffer.from(text).subarray(known.bytes).toString("utf8"));
      else if (status === 206) known.add(text);
    } catch (error) {
      // Nothing new.
      if (refusalOf(error)?.status !== 416) throw error;
    }
    return known;
  }

  async #endOf(before: WatchedTask): Promise<WatchedTask> {
    const { api, clock } = this.#tools;
    this.#followed.delete(before.id);
    const last = await api.json({ method: "GET", path: `/tasks/${before.id}` }, taskWire);
    return { ...taskOf(last, undefined), ended: clock.now(), result: last.result ?? "" };
  }
}

const taskOf = (one: TaskWire, progress: TaskProgress | undefined): WatchedTask => ({
  id: one.id,
  state: one.state,
  description: one.description ?? "",
  deployment: one.deployment ?? "",
  user: one.user ?? "",
  began: typeof one.started_at === "number" ? one.started_at * 1000 : undefined,
  ended: undefined,
  result: "",
  progress: progress?.now,
});
