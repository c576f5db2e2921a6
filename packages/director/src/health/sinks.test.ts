import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@slipway/kernel/clock";
import { afterEach, describe, expect, it } from "vitest";
import type { Alert, AlertSink } from "./alert.ts";
import { AlertQueue } from "./alert-queue.ts";
import { logSink } from "./log-sink.ts";
import { webhookSink } from "./webhook-sink.ts";

const ALERT: Alert = {
  kind: "alert",
  id: "a-1",
  severity: 2,
  category: "vm_health",
  title: "shop: web/6f1c (0) is unresponsive",
  summary: "nobody takes the connection",
  source: "shop: web/6f1c (0)",
  deployment: "shop",
  created_at: 1_769_860_800,
};

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Starts a receiver of alerts that answers with this status. */
async function receiver(status: number) {
  const taken: {
    readonly path: string;
    readonly authorization: string | undefined;
    readonly body: unknown;
  }[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      const { authorization } = request.headers;
      taken.push({ path: request.url ?? "", authorization, body: JSON.parse(text) as unknown });
      response.writeHead(status).end("thank you");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { taken, url: `http://127.0.0.1:${port}/hook?token=CANARY` };
}

const never = new AbortController().signal;

describe("a webhook", () => {
  it("is posted the alert as JSON, with the header that was configured", async () => {
    const { taken, url } = await receiver(204);
    await webhookSink({ url, authorization: "Bearer x", clock: systemClock }).send(ALERT, never);
    expect(taken).toEqual([{ path: "/hook?token=CANARY", authorization: "Bearer x", body: ALERT }]);
  });

  it("is named without the secrets of its address if it refuses an alert or is not there", async () => {
    const { url } = await receiver(503);
    const refused = await webhookSink({ url, clock: systemClock }).send(ALERT, never).catch(String);
    expect(refused).toContain("status 503");
    const away = webhookSink({ url: "http://127.0.0.1:1/CANARY?CANARY", clock: systemClock });
    const error = String(await away.send(ALERT, never).catch(String));
    expect(error).toContain("127.0.0.1:1");
    expect(`${refused}${error}${away.name}`).not.toContain("CANARY");
  });
});

describe("alerts", () => {
  it("reach each in order, also when another is away, which is noted", async () => {
    const [lines, errors]: [string[], unknown[]] = [[], []];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: string[] = [];
    const sinks: readonly AlertSink[] = [
      { name: "away", send: () => Promise.reject(new Error("nobody there")) },
      { name: "slow", send: ({ id }) => held.then(() => void slow.push(id)) },
      logSink((line) => lines.push(line)),
    ];
    const queue = new AlertQueue(sinks, (error) => errors.push(error));
    for (let nth = 0; nth < 900; nth += 1) queue.add({ ...ALERT, id: String(nth) });
    await expect.poll(() => lines.length).toBe(900);
    expect(lines[0]).toBe("health: shop: web/6f1c (0) is unresponsive: nobody takes the connection");
    expect(String(errors[0])).toContain("an alert could not be sent by away: nobody there");
    for (let nth = 900; nth < 1_201; nth += 1) queue.add({ ...ALERT, id: String(nth) });
    await expect.poll(() => lines.length).toBe(1_201);
    release();
    // The first was under way; of those that waited, the newest were kept, and it is said how many were not.
    await expect.poll(() => slow.length).toBe(1_001);
    expect([slow[0], slow[1], slow.at(-1)]).toEqual(["0", "201", "1200"]);
    await expect.poll(() => String(errors.at(-1))).toContain("200 alerts were not sent by slow");
    await queue.stop();
    queue.add(ALERT);
    expect(lines).toHaveLength(1_201);
  });
});
