import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask, small, taskOf } from "../crash/scenarios/tasks.ts";
import type { SimDirectorOptions } from "../director/director-in-sim.ts";
import { cpiError } from "./faults.ts";
import { Bench, type BenchRunOptions } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

sampleTests(1 / 4);

type Told = Parameters<NonNullable<SimDirectorOptions["tellMonitors"]>>[0];

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open({ snapshots: true });
});
afterAll(() => bench.close());
beforeEach(() => bench.prepare({ cpi: { remembers: true }, before: [deployTask(small)] }));

let runs = 0;
async function told(task: Parameters<Bench["run"]>[0], options: Partial<BenchRunOptions> = {}) {
  runs += 1;
  const alerts: Told[] = [];
  const ended = await bench.run(task, {
    seed: `alerts ${runs}`,
    tellMonitors: (alert) => void alerts.push(alert),
    ...options,
  });
  return { alerts, ended };
}

const refusing = (method: string): Interference => ({
  cpi: (call) =>
    call.method === method ? Promise.resolve(cpiError("Bosh::Clouds::CloudError", "no\nroom")) : undefined,
});
const common = {
  id: expect.any(String),
  severity: 4,
  source: "director",
  created_at: expect.any(Number),
  deployment: "shop",
};
const OF_SHOP = "update deployment for 'shop' against Director 'sim-director'";
const BEGIN = { ...common, title: "director - begin update deployment", summary: `Begin ${OF_SHOP}` };
const FINISH = { ...common, title: "director - finish update deployment", summary: `Finish ${OF_SHOP}` };

describe("health monitors", () => {
  it("get upstream's alerts when a deploy begins and ends, and no others", async () => {
    const { alerts } = await told(deployTask(small, { recreate: true }));
    expect(alerts).toEqual([BEGIN, FINISH]);
    expect(new Set(alerts.map(({ id }) => id)).size).toBe(2);
    expect(Number.isInteger(alerts[0]?.created_at)).toBe(true);
    expect((await told(taskOf("vms", { format: "full" }))).alerts).toEqual([]);
  });

  it("get an alert with the error when a deploy fails", async () => {
    const { alerts, ended } = await told(deployTask(small, { recreate: true }), {
      interference: refusing("delete_vm"),
    });
    expect(ended.state).toBe("error");
    expect(alerts).toEqual([
      BEGIN,
      {
        ...common,
        severity: 3,
        title: "director - error during update deployment",
        summary: expect.stringMatching(
          /^Error during update deployment for 'shop' .*'sim-director': .*no room/,
        ),
      },
    ]);
  });

  it("get no alert of a dry run", async () => {
    const { alerts, ended } = await told(deployTask(small, { dry_run: true, recreate: true }));
    expect({ state: ended.state, alerts }).toEqual({ state: "done", alerts: [] });
  });

  it("get alerts about a single instance, named by its action", async () => {
    const [{ group, uuid } = { group: "", uuid: "" }] = (await bench.remembered()).instances;
    const { alerts, ended } = await told(
      taskOf("update_instance", {
        ...{ group, instance: uuid, action: "stop" },
        ...{ hard: false, skip_drain: false, ignore_unresponsive_agent: false },
      }),
    );
    expect(ended.state).toBe("done");
    const name = `${group}/${uuid}`;
    expect(alerts.map(({ title }) => title)).toEqual([
      `director - begin 'stop' instance '${name}'`,
      `director - finish 'stop' instance '${name}'`,
    ]);
  });

  it("get an alert about a snapshot that the cloud refuses", async () => {
    const { alerts } = await told(taskOf("snapshot_deployment", { deployment: "shop" }), {
      interference: refusing("snapshot_disk"),
    });
    expect(alerts).toEqual([
      {
        ...common,
        severity: 3,
        title: "director - snapshot failure",
        summary: expect.stringMatching(/^failed to snapshot db\/0: .*no room/),
      },
    ]);
  });
});
