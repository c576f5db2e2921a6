import { readOutput } from "@slipway/director/tasks/output";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SSH } from "../crash/scenarios/access.ts";
import { deployTask, small } from "../crash/scenarios/tasks.ts";
import { Bench, type RunOptions } from "./testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [deployTask(small)] });
});
afterAll(() => bench.close());

/** What the CLI reads of a setup for the only instance of a group. */
async function answered(operations: RunOptions["operations"]): Promise<Record<string, unknown>> {
  const [scenario] = SSH;
  if (scenario === undefined || !("task" in scenario.move) || typeof scenario.move.task === "function")
    throw new Error("bug: the scenario is another");
  const { id, state } = await bench.run(scenario.move.task, { seed: "ssh", operations });
  expect(state).toBe("done");
  const [answer] = JSON.parse((await readOutput(bench.db, id, "result")).data.toString());
  return answer;
}

it("who comes by ssh is told of the gateway that is configured, and of none otherwise", async () => {
  const told = await answered({ sshGateway: { host: "jump.example", user: "vcap" } });
  expect(told).toMatchObject({ status: "success", gateway_host: "jump.example", gateway_user: "vcap" });
  const plain = await answered(undefined);
  expect(plain).toMatchObject({ status: "success", job: "db" });
  expect(Object.keys(plain).filter((key) => key.startsWith("gateway"))).toEqual([]);
});
