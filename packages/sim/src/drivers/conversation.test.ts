import { readOutput } from "@slipway/director/tasks/output";
import { type ConversationLine, conversationLine } from "@slipway/protocol/director/conversation-line";
import { check } from "@slipway/protocol/schema/check";
import { sampleOf } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SCENARIOS } from "../crash/scenarios.ts";
import { Bench } from "./testing/bench.ts";
import { nameOf } from "./watch-clients.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

async function conversation(id: number): Promise<readonly ConversationLine[]> {
  const text = (await readOutput(bench.db, id, "conversation")).data.toString();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const checked = check(conversationLine, JSON.parse(line));
      if (!checked.ok) throw new Error(checked.problems.join("; "));
      return checked.value;
    });
}

describe("the conversation of a task has every call that left the Director, and no other", () => {
  it.each(sampleOf("conversation", SCENARIOS, 2))("$name", async (scenario) => {
    await bench.prepare(scenario);
    const { id, calls } = await bench.run(scenario.task, { seed: `conversation ${scenario.name}` });
    const lines = await conversation(id);
    expect(lines.at(-1)).toMatchObject({ to: "director", message: scenario.task.type });
    const heard = lines.slice(0, -1);
    const names = heard.map(({ to, message }) => `${to.replace(/:.*/, "")} ${message}`);
    expect(names.sort()).toEqual(calls.map(nameOf).sort());
    expect(heard.length).toBeGreaterThan(5);
    for (const { to, message, instance } of heard)
      if (message !== "info") expect(instance, `${to} ${message}`).toMatch(/^(db|web)\//);
    const created = heard.filter(({ message }) => message === "create_vm");
    for (const line of created) expect(line.answer).toMatchObject([expect.stringMatching(/^vm-/), {}]);
  });
});
