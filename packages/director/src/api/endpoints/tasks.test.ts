import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enqueue } from "../../tasks/queue.ts";
import type { NewTask } from "../../tasks/task.ts";
import { type Harness, startHarness } from "../testing/harness.ts";

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
});
afterAll(() => api.close());

const newTask = (more: Partial<NewTask> = {}) =>
  enqueue(api.db, {
    type: "update_deployment",
    description: "create deployment",
    user: "admin",
    params: {},
    ...more,
  });
const write = (task_id: number, type: string, start: number, data: string) =>
  api.db
    .insertInto("task_output")
    .values({ task_id, type, start, data: Buffer.from(data) })
    .execute();

describe("the output of a task", () => {
  let id: number;
  beforeAll(async () => {
    id = await newTask();
    // ä is two bytes: offsets are bytes.
    await write(id, "event", 0, "1ä3\n");
    await write(id, "event", 5, "second\n");
    await write(id, "debug", 0, "debug text");
  });
  const output = (query: string, range?: string) =>
    api.ask("GET", `/tasks/${id}/output${query}`, range === undefined ? {} : { headers: { range } });

  it.each([
    ["?type=event", "bytes=0-", 206, "bytes 0-11/12", "1ä3\nsecond\n"],
    ["?type=event", "bytes=5-", 206, "bytes 5-11/12", "second\n"],
    ["?type=event", "bytes=7-", 206, "bytes 7-11/12", "cond\n"],
    ["?type=event", "bytes=11-", 206, "bytes 11-11/12", "\n"],
    ["?type=event", "bytes=12-", 416, "bytes */12", ""],
    ["?type=event", "bytes=99999-", 416, "bytes */12", ""],
    ["?type=event", undefined, 200, undefined, "1ä3\nsecond\n"],
    ["?type=event", "bytes=junk", 200, undefined, "1ä3\nsecond\n"],
    ["", undefined, 200, undefined, "debug text"],
    ["", "bytes=6-", 206, "bytes 6-9/10", "text"],
    ["?type=debug", undefined, 200, undefined, "debug text"],
    ["?type=result", undefined, 204, undefined, ""],
    ["?type=result", "bytes=0-", 204, undefined, ""],
    ["?type=cpi", undefined, 204, undefined, ""],
    ["?type=conversation", undefined, 204, undefined, ""],
    ["?type=none", undefined, 204, undefined, ""],
  ])("%s with range %s is %i %s", async (query, range, status, contentRange, body) => {
    const answer = await output(query, range);
    expect(answer).toMatchObject({ status, body });
    expect(answer.headers["content-range"]).toBe(contentRange);
  });

  it("polled as the CLI does it arrives once, whole, whenever it is written", async () => {
    const polled = await newTask();
    let seen = "";
    for (const piece of ["a\n", "", "bb\n", "ccc\n", ""]) {
      if (piece !== "") await write(polled, "event", Buffer.byteLength(seen), piece);
      const answer = await api.ask("GET", `/tasks/${polled}/output?type=event`, {
        headers: { range: `bytes=${Buffer.byteLength(seen)}-` },
      });
      expect([200, 204, 206, 416]).toContain(answer.status);
      seen += answer.body;
    }
    expect(seen).toBe("a\nbb\nccc\n");
  });

  it("is refused for an unknown type or task", async () => {
    expect(await output("?type=other")).toMatchObject({ status: 400, json: { code: 40005 } });
    expect(await api.get("/tasks/999/output")).toMatchObject({ status: 404, json: { code: 10000 } });
  });
});

describe("tasks", () => {
  it("are shown with whole numbers and nulls", async () => {
    const id = await newTask({ deployment: "shop", contextId: "ctx" });
    expect((await api.get(`/tasks/${id}`)).json).toEqual({
      id,
      state: "queued",
      description: "create deployment",
      timestamp: null,
      started_at: null,
      result: null,
      user: "admin",
      deployment: "shop",
      context_id: "ctx",
    });
  });

  it.each(["/tasks/0", "/tasks/12345678", "/tasks/abc", "/tasks/1e3", "/tasks/%2e"])(
    "%s is error 10000",
    async (path) => expect(await api.get(path)).toMatchObject({ status: 404, json: { code: 10000 } }),
  );

  it("are listed newest first, by state, deployment and how much is wanted", async () => {
    await newTask({ type: "vms", description: "retrieve vm-stats", deployment: "listed" });
    await newTask({ deployment: "listed" });
    const list = async (query: string) =>
      ((await api.get(`/tasks?deployment=listed${query}`)).json as { description: string }[]).map(
        ({ description }) => description,
      );
    expect(await list("&state=processing%2Ccancelling%2Cqueued&verbose=2")).toEqual([
      "create deployment",
      "retrieve vm-stats",
    ]);
    expect(await list("&verbose=1")).toEqual(["create deployment"]);
    expect(await list("&limit=1&verbose=2")).toEqual(["create deployment"]);
    expect(await list("&state=done")).toEqual([]);
    expect((await api.get("/tasks?limit=x")).status).toBe(400);
  });

  it("are cancelled by DELETE /task, in the singular, or the caller learns why not", async () => {
    const ids = [await newTask(), await newTask()];
    // The stub ends odd ids and says of even ones that they are over.
    const odd = ids.find((id) => id % 2 === 1);
    const even = ids.find((id) => id % 2 === 0);
    expect((await api.ask("DELETE", `/task/${odd}`)).status).toBe(204);
    const answer = await api.ask("DELETE", `/task/${even}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain(`Cannot cancel task ${even}`);
    expect((await api.ask("DELETE", `/tasks/${odd}`)).status).toBe(404);
    expect((await api.ask("DELETE", "/task/999")).status).toBe(404);
    const events = (await api.get(`/events?task=${odd}`)).json as { action: string; user: string }[];
    expect(events).toMatchObject([{ action: "cancel", user: "admin", object_type: "task" }]);
  });

  it("are canceled many at once, by default only those that wait", async () => {
    const shop = await newTask({ deployment: "many" });
    const other = await newTask({ deployment: "many", type: "delete_deployment" });
    const cancel = (body: object) =>
      api.ask("POST", "/tasks/cancel", { type: "application/json", body: JSON.stringify(body) });
    expect((await cancel({ deployment: "many", types: ["update_deployment"] })).status).toBe(204);
    const state = async (id: number) => ((await api.get(`/tasks/${id}`)).json as { state: string }).state;
    expect([await state(shop), await state(other)]).toEqual(["cancelled", "queued"]);
  });
});

describe("locks", () => {
  it("are shown with strings for their numbers", async () => {
    const id = await newTask();
    await api.db
      .insertInto("locks")
      .values({
        name: "lock:deployment:shop",
        task_id: id,
        owner: "o",
        expires_at: new Date("2100-01-01T00:00:00Z"),
      })
      .execute();
    expect((await api.get("/locks")).json).toEqual([
      { type: "deployment", resource: ["shop"], timeout: "4102444800.000000", task_id: String(id) },
    ]);
  });
});
