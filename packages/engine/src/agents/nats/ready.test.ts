import { createServer } from "node:net";
import { systemClock } from "@slipway/kernel/clock";
import { natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it } from "vitest";
import { directorOn } from "../testing/bus.ts";
import { natsTransportProvider } from "./nats-transport-provider.ts";

const here = needs("nats-server", natsServerAvailable(), "nats-server is not installed");

/** Deadlines are over soon. */
const impatient = {
  ...systemClock,
  after: (ms: number, work: () => void) => systemClock.after(Math.min(ms, 300), work),
};

const providerFor = (url: string, clock = systemClock) =>
  natsTransportProvider({
    bus: directorOn({ url }, clock).bus,
    urls: [url],
    trust: () => {
      throw new Error("no certificate is issued");
    },
    authorize: () => Promise.resolve(),
  });

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("agents over NATS", () => {
  it("are not ready for new VMs without a connection, and the error names server, reason and what to do", async () => {
    const port = await closedPort();
    await expect(providerFor(`nats://127.0.0.1:${port}`, impatient).ready()).rejects.toMatchObject({
      code: "DIA-130",
      message: expect.stringMatching(
        new RegExp(`no connection to NATS at .*127\\.0\\.0\\.1:${port}.*no VM is created or replaced`),
      ),
    });
  });

  it.runIf(here)("are ready once the server has let the Director in", async () => {
    const server = await TestNatsServer.start();
    await expect(providerFor(server.url).ready()).resolves.toBeUndefined();
  });
});
