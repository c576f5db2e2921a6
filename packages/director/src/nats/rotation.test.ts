import { join } from "node:path";
import { SERVER_NAME } from "@slipway/engine/agents/nats/names";
import { natsUsers } from "@slipway/engine/agents/nats/users";
import { type Authority, DAY_MS, openAuthority } from "@slipway/engine/pki/authority";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { freePort } from "@slipway/testkit/free-port";
import { director, natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { SlowProxy } from "@slipway/testkit/slow-proxy";
import { describe, expect, it } from "vitest";
import { directory, ID, tools, withAgent } from "./testing/director-and-agent.ts";

sampleTests(1 / 12);

const here = needs("nats-server", natsServerAvailable(), "nats-server is not installed");
const bundle = agentBundle();

describe.runIf(here)("the authority of a NATS server that the Director keeps", () => {
  it("is rotated while an agent runs, which goes on with another certificate; the old one is not believed any more", async () => {
    const { director, start, machine, answers, letsIn, newest } = await withAgent(bundle());
    const process = machine.start();
    await answers(director);
    const old = director.authority;
    expect(await letsIn(old, old.ca)).toBe(true);
    expect(await director.task({ rotate_nats_ca: "now" })).toBe(
      "2 certificates renewed, 0 left; another authority has taken over on NATS",
    );
    await answers(director);
    expect(process.over).toBe(false);
    const now = await newest();
    // Neither by one that still believes the old one, nor with a certificate of it.
    await expect.poll(() => letsIn(old, old.ca)).toBe(false);
    await expect.poll(() => letsIn(old, now.ca)).toBe(false);
    expect(await letsIn(now, old.ca)).toBe(false);
    expect(await letsIn(now, now.ca)).toBe(true);
    // Also when both start again.
    await process.kill();
    await director.close();
    const next = await start();
    machine.start();
    await answers(next);
    expect(await next.task()).toBe("0 certificates renewed, 0 left");
  });

  it("is rotated also over a server that is slow, by each agent once", async () => {
    const port = await freePort();
    const proxy = await SlowProxy.to(port);
    proxy.delayMs = 300;
    const { director, machine, answers } = await withAgent(bundle(), { server: { port }, urls: [proxy.url] });
    const process = machine.start();
    await answers(director);
    expect(await director.task({ rotate_nats_ca: "now" })).toBe(
      "2 certificates renewed, 0 left; another authority has taken over on NATS",
    );
    await answers(director);
    expect(process.over).toBe(false);
  });

  it("stays for an agent that is away, also when the Director starts again meanwhile, and goes when it is back", async () => {
    const { director, start, machine, answers, letsIn, newest } = await withAgent(bundle());
    const process = machine.start();
    await answers(director);
    await process.kill();
    expect(await director.task({ rotate_nats_ca: "now" })).toBe(
      "0 certificates renewed, 1 left; the old authority of NATS stays for 1 more",
    );
    await director.close();
    const next = await start();
    const [old, now] = [next.authority, await newest()];
    for (const signer of [old, now]) expect(await letsIn(signer, old.ca)).toBe(true);
    machine.start();
    await answers(next);
    expect(await next.task()).toBe(
      "2 certificates renewed, 0 left; another authority has taken over on NATS",
    );
    await answers(next);
    await expect.poll(() => letsIn(old, now.ca)).toBe(false);
    expect(await letsIn(now, now.ca)).toBe(true);
  });
});

describe.runIf(here)("a given authority that ends soon", () => {
  it("signs once for an agent, whose certificate then lasts as long as it does, and is not asked again and again", async () => {
    const dir = await directory();
    const longAgo = fakeClock({ start: tools.clock.now() - (3650 - 60) * DAY_MS });
    await openAuthority({ dir, ...tools, clock: longAgo });
    const [port, pair] = [await freePort(), join(dir, "authority.pem")];
    const { director, machine, answers } = await withAgent(bundle(), {
      ...{ server: { port }, urls: [`nats://127.0.0.1:${port}`] },
      client_ca: { certificate: pair, private_key: pair },
    });
    const process = machine.start();
    await answers(director);
    expect(await director.task()).toBe("1 certificates renewed, 0 left");
    expect(await director.task()).toBe("0 certificates renewed, 0 left");
    await answers(director);
    expect(process.over).toBe(false);
  });
});

describe.runIf(here)("the authority of a NATS server that runs already", () => {
  it("is changed by its steps while an agent runs, which learns of the new one and then forgets the old one", async () => {
    const dir = await directory();
    const [old, now] = [
      await openAuthority({ dir: join(dir, "old"), ...tools }),
      await openAuthority({ dir: join(dir, "now"), ...tools }),
    ];
    const certificateOf = (authority: Authority) =>
      authority.issue({
        ...{ subject: "bosh", commonName: SERVER_NAME, usage: "server", days: 1 },
        sans: { dns: [], ips: ["127.0.0.1"] },
      });
    // As nats-sync writes them: a Director may not listen to heartbeats.
    const users = Object.fromEntries(
      natsUsers([{ agentId: ID, lasting: false }]).map(({ user, permissions }) => [
        user.replace(/^.*CN=/, ""),
        permissions,
      ]),
    );
    const server = await TestNatsServer.start({
      ...{ users: { ...users, ...director }, server: await certificateOf(old), clientCa: old.ca },
    });
    const config = (ca: string, signer: string) => {
      const pair = join(dir, signer, "authority.pem");
      return { urls: [server.url], ca, client_ca: { certificate: pair, private_key: pair } };
    };
    const {
      director: first,
      start,
      machine,
      answers,
      letsIn,
    } = await withAgent(bundle(), config(old.ca, "old"));
    const process = machine.start();
    await answers(first);

    await server.reload({ ...users, ...director }, { clientCa: `${old.ca}\n${now.ca}` });
    await answers(first);
    await first.close();
    const second = await start(config(`${old.ca}\n${now.ca}`, "now"));
    await answers(second);
    expect(await second.task()).toBe("1 certificates renewed, 0 left");

    await server.reload({ ...users, ...director }, { server: await certificateOf(now), clientCa: now.ca });
    await expect.poll(() => letsIn(old, now.ca)).toBe(false);
    await answers(second);
    await second.close();
    const third = await start(config(now.ca, "now"));
    await answers(third);
    expect(await third.task()).toBe("1 certificates renewed, 0 left");
    expect(await third.task()).toBe("0 certificates renewed, 0 left");
    expect(process.over).toBe(false);
    // With what it has now it finds the server also after its own start.
    await process.kill();
    machine.start();
    await answers(third);
    expect(await letsIn(now, now.ca)).toBe(true);
  });
});
