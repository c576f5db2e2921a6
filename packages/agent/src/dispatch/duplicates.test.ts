import { describe, expect, it } from "vitest";
import { dispatching, gate } from "./testing/dispatching.ts";

const body = (method: string, args: readonly unknown[], replyTo: string) =>
  JSON.stringify({ protocol: 3, method, arguments: args, reply_to: replyTo });

describe("the same request twice", () => {
  it("runs once and has one reply, marked as repeated, if the reply subject is unique", async () => {
    let runs = 0;
    const { handler, tasks } = await dispatching({
      actions: {
        mount_disk: async () => {
          runs++;
          return {};
        },
      },
    });
    const request = body("mount_disk", ["disk-1"], "director.p.agent-1.r1");
    const first = await handler(request, "test");
    const second = await handler(request, "test");
    await tasks.idle();
    expect(first).toMatchObject({ reply: { value: { agent_task_id: "task-1" } } });
    expect(first).not.toHaveProperty("repeated");
    expect(second).toEqual({ ...first, repeated: true });
    expect(runs).toBe(1);
  });

  it("waits for the reply of the first while that runs", async () => {
    const work = gate();
    let runs = 0;
    const { handler } = await dispatching({
      actions: {
        remove_file: async ({ path }) => {
          runs++;
          await work.passed;
          return path;
        },
      },
    });
    const request = body("remove_file", ["/tmp/a"], "director.p.agent-1.r1");
    const both = Promise.all([handler(request, "test"), handler(request, "test")]);
    work.open();
    expect(await both).toMatchObject([{ reply: { value: "/tmp/a" } }, { repeated: true }]);
    expect(runs).toBe(1);
  });

  it.each(["director.p.agent-1.r", "director.q.agent-1.r1", "director.p.agent-1.r1"])(
    "is not the same when subject or arguments differ: %s",
    async (replyTo) => {
      let runs = 0;
      const { handler } = await dispatching({ actions: { remove_file: async () => String(++runs) } });
      await handler(body("remove_file", ["a"], "director.p.agent-1.r1"), "test");
      const other = await handler(body("remove_file", ["b"], replyTo), "test");
      expect(other).toMatchObject({ reply: { value: "2" } });
      expect(other).not.toHaveProperty("repeated");
    },
  );

  it.each([
    undefined,
    "",
    "5f5a9d7e-director",
    "director.p.agent-1",
    "director.p.agent.1.r",
    "director.p.*.r",
  ])("runs twice if reply_to names a caller and no request: %s", async (replyTo) => {
    let runs = 0;
    const { handler } = await dispatching({ actions: { remove_file: async () => String(++runs) } });
    const request = body("remove_file", ["a"], replyTo as string);
    await handler(request, "test");
    expect(await handler(request, "test")).toMatchObject({ reply: { value: "2" } });
  });

  it("is still known after a thousand others, and what is remembered stays bounded", async () => {
    let runs = 0;
    const { handler } = await dispatching({
      actions: { remove_file: async () => `${++runs}${"x".repeat(10_000)}` },
    });
    const request = (n: number) => body("remove_file", ["a"], `director.p.agent-1.r${n}`);
    for (let n = 0; n < 1000; n++) await handler(request(n), "test");
    expect(await handler(request(999), "test")).toHaveProperty("repeated");
    // 4 MiB of such replies are some 400 of them.
    expect(await handler(request(0), "test")).not.toHaveProperty("repeated");
    expect(runs).toBe(1001);
  });
});
