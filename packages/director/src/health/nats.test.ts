import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { WEB_0 } from "../api/testing/seed.ts";
import type { Channel } from "./hearing.ts";
import { heartbeatOf } from "./testing/heartbeat.ts";
import { AGENT_ID, natsWorld } from "./testing/nats-world.ts";

sampleTests(1 / 3);

const SOURCE = `shop: web/${WEB_0} (0)`;

/** NATS as the monitor sees it. */
class FakeChannel implements Channel {
  connected = true;
  connections = 1;
  #take: (subject: string, data: Uint8Array) => void = () => undefined;

  listen(_: readonly string[], take: (subject: string, data: Uint8Array) => void): void {
    this.#take = take;
  }

  says(topic: "heartbeat" | "alert" | "shutdown", what: unknown, agentId = AGENT_ID): void {
    this.#take(
      `hm.agent.${topic}.${agentId}`,
      Buffer.from(typeof what === "string" ? what : JSON.stringify(what)),
    );
  }

  lost(): void {
    this.connected = false;
  }

  back(): void {
    this.connected = true;
    this.connections += 1;
  }
}

async function opened() {
  const channel = new FakeChannel();
  const made = await natsWorld(channel);
  const beats = (what: unknown = heartbeatOf()) => channel.says("heartbeat", what);
  const everyHalfMinute = (second: number) => {
    if (second % 30 === 0) beats();
  };
  return { channel, beats, everyHalfMinute, ...made };
}

describe("an agent that says by itself how it is", () => {
  it("is asked once at first, and then every five minutes for its disk", async () => {
    const { world, pass, everyHalfMinute, health } = await opened();
    await pass(280, everyHalfMinute);
    expect({ asked: world.asked, ...health() }).toEqual({ asked: 1, status: "healthy", problems: [] });
    world.says = { disks: [] };
    await pass(80, everyHalfMinute);
    expect({ asked: world.asked, ...health() }).toEqual({
      asked: 2,
      status: "disk_not_mounted",
      problems: ["its disk disk-1 is not mounted"],
    });
  });

  it("is noticed within 90 s of its last word when it dies, and given a new VM once", async () => {
    const { world, pass, everyHalfMinute, beats, health, queued } = await opened();
    await pass(120, everyHalfMinute);
    beats();
    world.says = undefined;
    await pass(59);
    expect(health().status).toBe("healthy");
    await pass(31);
    expect(health().status).toBe("unresponsive");
    expect(queued.map(({ type }) => type)).toEqual(["cck_scan_and_fix"]);
  });

  it("is not silent while it beats, although it answers no question", async () => {
    const { world, pass, everyHalfMinute, health, queued } = await opened();
    await pass(60, everyHalfMinute);
    world.says = undefined;
    await pass(900, everyHalfMinute);
    expect(health().status).toBe("healthy");
    expect(queued).toEqual([]);
  });

  it("shows failing processes with the next tick, and which ones soon after", async () => {
    const { world, pass, everyHalfMinute, beats, health } = await opened();
    await pass(44, everyHalfMinute);
    world.says = undefined;
    beats(heartbeatOf("failing"));
    await pass(2);
    expect(health()).toEqual({ status: "failing", problems: ["failing"] });
    world.says = { jobState: "failing" };
    beats(heartbeatOf("failing"));
    await pass(25);
    expect(health()).toEqual({ status: "failing", problems: ["failing: nginx failing"] });
    world.says = {};
    beats();
    await pass(2);
    expect(health().status).toBe("healthy");
  });

  it("shows a disk that became read-only with the next tick", async () => {
    const { world, pass, everyHalfMinute, beats, health } = await opened();
    await pass(44, everyHalfMinute);
    world.says = undefined;
    beats(heartbeatOf("running", "9", true));
    await pass(2);
    expect(health().status).toBe("disk_read_only");
    world.says = {};
    beats();
    await pass(25);
    expect(health().status).toBe("healthy");
  });

  it("is asked at once when a heartbeat says that the disk is gone", async () => {
    const { world, pass, everyHalfMinute, beats, health } = await opened();
    await pass(60, everyHalfMinute);
    expect(world.asked).toBe(1);
    world.says = { disks: [] };
    beats(heartbeatOf("running", null));
    await pass(12);
    expect({ asked: world.asked, status: health().status }).toEqual({ asked: 2, status: "disk_not_mounted" });
  });

  it("announces its shutdown, which is reported with its silence", async () => {
    const { world, channel, pass, everyHalfMinute, beats, health } = await opened();
    await pass(60, everyHalfMinute);
    beats();
    channel.says("shutdown", "null");
    world.says = undefined;
    await pass(90);
    expect(health()).toEqual({
      status: "unresponsive",
      problems: ["it hangs; it had said that it shuts down"],
    });
  });
});

describe("a lost connection", () => {
  it("is not counted as silence: a connection lost for minutes replaces no VM, and is reported once", async () => {
    const { world, channel, pass, everyHalfMinute, health, queued, alerts } = await opened();
    await pass(60, everyHalfMinute);
    channel.lost();
    world.says = undefined;
    const { asked } = world;
    await pass(25);
    expect(health().status).toBe("healthy");
    await pass(300);
    expect(health()).toEqual({
      status: "unknown",
      problems: ["the Director has no connection to NATS, and cannot hear its agent"],
    });
    expect(world.asked).toBe(asked);
    channel.back();
    // Agents need a while to be back.
    await pass(50);
    expect({ queued, more: world.asked > asked }).toEqual({ queued: [], more: true });
    world.says = {};
    await pass(60, everyHalfMinute);
    expect(health().status).toBe("healthy");
    expect(queued).toEqual([]);
    expect(alerts.map(({ severity, title }) => ({ severity, title }))).toEqual([
      { severity: 1, title: "all agents on NATS cannot be heard" },
      { severity: 4, title: "all agents on NATS are heard again" },
    ]);
  });

  it("does not hide a dead agent: its VM is replaced 60 s after the connection is back", async () => {
    const { world, channel, pass, everyHalfMinute, health, queued } = await opened();
    await pass(60, everyHalfMinute);
    channel.lost();
    world.says = undefined;
    await pass(60);
    channel.back();
    await pass(90);
    expect(health().status).toBe("unresponsive");
    expect(queued).toHaveLength(1);
  });

  it("a server that is restarted between two looks counts as well", async () => {
    const { world, channel, pass, everyHalfMinute, queued } = await opened();
    await pass(60, everyHalfMinute);
    world.says = undefined;
    await pass(1_200, (second) => {
      if (second % 40 === 10) channel.back();
    });
    expect(queued).toEqual([]);
  });
});

describe("messages of agents", () => {
  const ALERT = {
    id: "1700000000.3@localhost",
    severity: 1,
    title: "web (10.0.0.5) - does not exist - restart",
    summary: "process is not running",
    created_at: 1_700_000_000,
  };

  it("go to the sinks as alerts with upstream's fields, once each, and say where they come from", async () => {
    const { channel, pass, alerts } = await opened();
    await pass(10);
    channel.says("alert", { ...ALERT, source: "director", deployment: "bank" });
    channel.says("alert", ALERT);
    channel.says("alert", { ...ALERT, id: undefined, title: "two\nlines", summary: null });
    await pass(1);
    const common = { kind: "alert", severity: 1, category: null, source: SOURCE, deployment: "shop" };
    expect(alerts).toEqual([
      { ...common, ...ALERT },
      { ...common, ...ALERT, id: expect.any(String), title: "two lines", summary: "" },
    ]);
  });

  it("are counted and reported once if they make no sense, and do no harm", async () => {
    const { channel, beats, pass, monitor, errors, alerts, health } = await opened();
    await pass(10);
    const senseless = [
      "",
      "{",
      "null",
      "[]",
      "7",
      '{"job_state": 7}',
      `{"job_state":"x${"y".repeat(70_000)}"}`,
    ];
    for (const one of senseless) channel.says("heartbeat", one);
    await pass(1);
    for (const one of [{}, { ...ALERT, severity: -1 }, { ...ALERT, title: "" }]) channel.says("alert", one);
    await pass(10);
    expect(monitor.snapshot()?.heard?.messages).toEqual({
      heartbeat: 0,
      alert: 0,
      shutdown: 0,
      unreadable: 10,
      dropped: 0,
    });
    expect(errors).toEqual([expect.stringContaining(`the agent of ${SOURCE} sends what cannot be read`)]);
    beats();
    channel.says("heartbeat", "{");
    expect(errors).toHaveLength(2);
    expect({ alerts, status: health().status }).toEqual({ alerts: [], status: "healthy" });
  });

  it("are those of agents whose VM is recorded and reached over NATS, and not too many of one", async () => {
    const { channel, beats, pass, monitor, alerts, db } = await opened();
    await pass(10);
    for (const other of ["agent-2", "ag-1", "", "agent-1.more"]) channel.says("alert", ALERT, other);
    for (let nth = 0; nth < 50; nth += 1) channel.says("alert", { ...ALERT, id: String(nth) });
    await pass(10);
    expect(alerts).toHaveLength(10);
    expect(monitor.snapshot()?.heard?.messages).toMatchObject({ alert: 10, dropped: 44 });
    await db.updateTable("vms").set({ agent_url: "https://10.0.0.2:6868" }).execute();
    await pass(10);
    channel.says("alert", { ...ALERT, id: "late" });
    beats();
    await pass(10);
    expect(monitor.snapshot()?.heard?.messages).toMatchObject({ alert: 10, heartbeat: 0, dropped: 46 });
  });
});
