import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import { AGENT } from "@slipway/testkit/certificates";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "../log.ts";
import { isReplySubject, type NatsTransportOptions, natsTransport, reconnectDelay } from "./nats.ts";

const options = (more: Partial<NatsTransportOptions> = {}): NatsTransportOptions => ({
  urls: ["nats://127.0.0.1:4222"],
  credentials: AGENT,
  agentId: "agent-1",
  clock: fakeClock(),
  random: systemRandom,
  log: silentLog,
  ...more,
});

describe("the pause before the next try", () => {
  it("is 2 s times the attempt, at most 10 s, and up to half less by chance", () => {
    const at = (fraction: number) =>
      [1, 2, 3, 4, 5, 6, 1000].map((attempt) =>
        reconnectDelay(attempt, { ...systemRandom, fraction: () => fraction }),
      );
    expect(at(1)).toEqual([2_000, 4_000, 6_000, 8_000, 10_000, 10_000, 10_000]);
    expect(at(0)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000, 5_000, 5_000]);
  });
});

describe("a reply subject", () => {
  it("is one the permissions of this agent allow", () => {
    expect(isReplySubject("director.p.agent-1.r", "agent-1")).toBe(true);
    for (const other of [
      "",
      "director.p.agent-2.r",
      "director.p.agent-1",
      "director.p.agent-1.r.x",
      "director..agent-1.r",
      "director.p.agent-1.",
      "director.*.agent-1.r",
      "director.p.agent-1.>",
      "director.p.agent-1.r x",
      "director.p.agent-1.r\r\nPUB x 0",
      "hm.p.agent-1.r",
    ])
      expect(isReplySubject(other, "agent-1"), other).toBe(false);
  });
});

describe("a NATS URL", () => {
  it("has a host, and the usual port unless it names one", () => {
    expect(readNatsUrl("nats://10.0.0.6")).toMatchObject({ host: "10.0.0.6", port: 4222 });
    expect(readNatsUrl("nats://u:p%40@[::1]:4333")).toEqual({
      host: "::1",
      port: 4333,
      user: "u",
      password: "p@",
      name: "[::1]:4333",
    });
    for (const url of ["https://x", "nats://", "nats://u:%zz@x", "x"])
      expect(() => readNatsUrl(url), url).toThrow("the URL of the NATS server is not usable");
  });
});

describe("a transport that cannot work", () => {
  it("is refused when it is made, and its description holds no password", () => {
    for (const wrong of [
      { urls: [] },
      { agentId: "a.b" },
      { agentId: "*" },
      { credentials: { ...AGENT, certificate: "" } },
      { credentials: { ...AGENT, privateKey: "junk" } },
    ])
      expect(() => natsTransport(options(wrong))).toThrow(/^the (message bus URL|certificate and key)/);
    expect(natsTransport(options({ urls: ["nats://u:pw@a", "nats://b:1"] })).description).toBe(
      "nats://a:4222,b:1",
    );
  });
});

describe("a server that takes connections and says nothing", () => {
  it("is left after 8 s, with no socket kept open, and tried again", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket.on("error", () => {}).resume()));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const lines: string[] = [];
    const note = (line: string) => void lines.push(line);
    const clock = fakeClock();
    const { port } = silent.address() as AddressInfo;
    const log = { info: note, warn: note, error: note };
    const transport = natsTransport(options({ urls: [`nats://127.0.0.1:${port}`], clock, log }));
    const started = transport.start(async () => ({ kind: "unreadable" }));
    for (const tries of [1, 2]) {
      await expect.poll(() => sockets.length).toBe(tries);
      const gone = once(sockets[tries - 1] as Socket, "close");
      await clock.advance(8_000);
      await gone;
      await clock.advance(2_000 * tries);
    }
    expect(lines).toEqual([
      `no connection to NATS at 127.0.0.1:${port}: the NATS server 127.0.0.1:${port} did not finish the greeting within 8 s; it is tried again`,
    ]);
    await expect.poll(() => sockets.length).toBe(3);
    const closed = transport.close();
    await clock.advance(10_000);
    await closed;
    await started;
  });
});
