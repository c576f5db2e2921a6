import { X509Certificate } from "node:crypto";
import { readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { matches } from "@slipway/protocol/schema/check";
import { checkAgentSettings, updateSettings } from "@slipway/protocol/settings/agent-settings";
import type { Networks } from "@slipway/protocol/settings/networks";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { DAY_MS } from "../pki/authority.ts";
import { makeAgents, needsRenewal } from "./agents.ts";
import { openAgentSecret } from "./credentials.ts";
import { NoAgentAddress, SecretUnreadable } from "./errors.ts";
import { NatsNotConfigured } from "./nats/errors.ts";
import { testAuthority } from "./testing/real-agent.ts";

const ID = "4b0f6a52-7a0c-4a55-9b0e-0c1fd2a7b6aa" as AgentId;

let dir: string;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = directory.path;
  return directory.remove;
});

async function setup() {
  const agents = makeAgents({
    authority: await testAuthority(),
    secret: await openAgentSecret({ dir, random: systemRandom }),
    port: 6868,
    clock: systemClock,
    random: systemRandom,
    directorUuid: "d-1",
    warn: () => {},
  });
  onTestFinished(() => agents.close());
  return agents;
}

interface EnvBosh {
  readonly mbus: {
    readonly urls: readonly string[];
    readonly cert: Readonly<Record<"ca" | "certificate" | "private_key" | "client_ca", string>>;
  };
}

describe("introducing a VM", () => {
  it("gives it a certificate of its id and addresses, and says until when", async () => {
    const agents = await setup();
    const { envBosh, certificateUntil } = await agents.introduce({
      agentId: ID,
      ips: ["10.0.0.2", "10.1.0.2"],
    });
    const { cert } = (envBosh as unknown as EnvBosh).mbus;
    const shown = new X509Certificate(cert.certificate);
    expect(shown.checkHost(ID)).toBe(ID);
    expect(shown.subject).toContain(`CN=${ID}`);
    expect(shown.checkIP("10.1.0.2")).toBe("10.1.0.2");
    expect(shown.verify(new X509Certificate(cert.ca).publicKey)).toBe(true);
    expect(cert.client_ca).toBe(cert.ca);
    expect(Date.parse(shown.validTo)).toBe(certificateUntil);
    expect(needsRenewal(certificateUntil, systemClock.now())).toBe(false);
    expect(checkAgentSettings({ agent_id: ID, env: { bosh: envBosh } })).toMatchObject({ ok: true });
  });

  it.each<[ips: readonly string[], host: string]>([
    [["10.0.0.2", "10.1.0.2"], "10.0.0.2"],
    [[], "0.0.0.0"],
    [["fd00::2"], "[fd00::2]"],
  ])("tells it to listen, with addresses %j", async (ips, host) => {
    const agents = await setup();
    const { envBosh } = await agents.introduce({ agentId: ID, ips });
    const url = new URL((envBosh as unknown as EnvBosh).mbus.urls[0] ?? "");
    expect(url.host).toBe(`${host}:6868`);
    expect(url.username).toBe("mbus");
    expect(url.password).toMatch(/^[0-9a-f]{64}$/);
  });

  it("renews with another certificate and the same addresses to listen on", async () => {
    const agents = await setup();
    const first = await agents.introduce({ agentId: ID, ips: [] });
    const { settings } = await agents.renewal({ agentId: ID, agentUrl: "https://10.0.0.2:6868", ips: [] });
    expect(matches(updateSettings, settings)).toBe(true);
    expect(settings.mbus?.urls).toBeUndefined();
    const before = (first.envBosh as unknown as EnvBosh).mbus.cert;
    expect(settings.mbus?.cert).toMatchObject({ ca: before.ca, client_ca: before.ca });
    expect(settings.mbus?.cert?.certificate).not.toBe(before.certificate);
  });
});

describe("the address of a VM", () => {
  it.each<[what: string, networks: Networks, url: string | undefined]>([
    ["its only one", { a: { ip: "10.0.0.2" } }, "https://10.0.0.2:6868"],
    [
      "of the network with the default gateway",
      { a: { ip: "10.0.0.2" }, b: { type: "manual", ip: "10.1.0.2", default: ["dns", "gateway"] } },
      "https://10.1.0.2:6868",
    ],
    [
      "of the one that is addressable, before that",
      { a: { ip: "10.0.0.2", default: ["gateway"] }, b: { ip: "10.1.0.2", default: ["addressable"] } },
      "https://10.1.0.2:6868",
    ],
    [
      "never a vip",
      { v: { type: "vip", ip: "8.8.8.8", default: ["gateway"] }, a: { type: "dynamic", ip: "10.0.0.9" } },
      "https://10.0.0.9:6868",
    ],
    ["of IPv6", { a: { ip: "fd00::2" } }, "https://[fd00::2]:6868"],
    ["unknown yet", { a: { type: "dynamic" }, b: { type: "dynamic", ip: "" } }, undefined],
    ["of nothing", {}, undefined],
  ])("%s", async (_, networks, url) => {
    expect((await setup()).urlFor(networks)).toBe(url);
  });

  it.each(["", "not a url"])("%j leads to no agent, and the error says so", async (agentUrl) => {
    const agents = await setup();
    expect(() => agents.agent({ agentId: ID, agentUrl })).toThrow(
      expect.toSatisfy((error: unknown) => NoAgentAddress.is(error)),
    );
  });
});

describe("a VM that is reached over NATS", () => {
  it("cannot be reached without it, and the error says what to do", async () => {
    const agents = await setup();
    const agentUrl = "nats://10.0.0.2:4222";
    expect(() => agents.agent({ agentId: ID, agentUrl })).toThrow(
      expect.toSatisfy((error: unknown) => NatsNotConfigured.is(error)),
    );
  });
});

describe("the secret of passwords", () => {
  it("makes the same password for the same agent after a restart, and others for others", async () => {
    const first = await openAgentSecret({ dir, random: systemRandom });
    const again = await openAgentSecret({ dir, random: systemRandom });
    expect(again.passwordFor(ID)).toBe(first.passwordFor(ID));
    expect(again.passwordFor("b" as AgentId)).not.toBe(first.passwordFor(ID));
    expect((await stat(join(dir, "agent-secret"))).mode & 0o777).toBe(0o600);
  });

  it("when torn is an error and stays as it is", async () => {
    await openAgentSecret({ dir, random: systemRandom });
    const path = join(dir, "agent-secret");
    await truncate(path, 20);
    const before = await readFile(path, "utf8");
    await expect(openAgentSecret({ dir, random: systemRandom })).rejects.toSatisfy(SecretUnreadable.is);
    expect(await readFile(path, "utf8")).toBe(before);
  });
});

describe("a certificate", () => {
  it("reissues the Director's own certificate when it is due, and when it was issued while the clock was ahead", async () => {
    let now = systemClock.now();
    const authority = await testAuthority();
    const issued: number[] = [];
    const agents = makeAgents({
      authority: {
        ...authority,
        issue: (request) => {
          if (request.usage === "client") issued.push(now);
          return authority.issue(request);
        },
      },
      secret: await openAgentSecret({ dir, random: systemRandom }),
      port: 6868,
      clock: { ...systemClock, now: () => now },
      random: systemRandom,
      directorUuid: "d-1",
      warn: () => {},
    });
    onTestFinished(() => agents.close());
    // No agent listens there; the certificate is made before the connection fails.
    const call = (at: number) => {
      now = at;
      const agentUrl = `https://127.0.0.1:1`;
      return agents
        .agent({ agentId: ID, agentUrl })
        .ping({ timeoutMs: 1000 })
        .catch(() => undefined);
    };
    const start = now;
    for (const days of [0, 19, 21, 400, 0.1, 0]) await call(start + days * DAY_MS);
    expect(issued.map((at) => Math.round((at - start) / DAY_MS))).toEqual([0, 21, 400, 0]);
  });

  it("is due before it has ended", () => {
    const { now } = fakeClock();
    expect(needsRenewal(now() + 365 * DAY_MS, now())).toBe(false);
    expect(needsRenewal(now() + 100 * DAY_MS, now())).toBe(true);
    expect(needsRenewal(now() - DAY_MS, now())).toBe(true);
  });
});
