import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { NatsBus } from "@slipway/engine/agents/nats/bus";
import { DIRECTOR_NAME } from "@slipway/engine/agents/nats/names";
import { directorCredentials } from "@slipway/engine/agents/nats/nats-transport-provider";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { identityOf } from "@slipway/kernel/process-identity";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { freePort } from "@slipway/testkit/free-port";
import { natsServerAvailable } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { NatsServerFailed, NatsServerMissing } from "./errors.ts";
import { ManagedServer } from "./managed-server.ts";

const here = needs("nats-server", natsServerAvailable(), "nats-server is not installed");
const quick = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 20), signal),
};

async function made(over: { readonly program?: string; readonly port?: number; readonly dir?: string } = {}) {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const authority = await openAuthority({ dir: join(path, "pki"), clock: systemClock, random: systemRandom });
  const port = over.port ?? (await freePort());
  const dir = over.dir ?? join(path, "nats");
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  const server = new ManagedServer({
    ...{ program: over.program ?? "nats-server", dir, host: "127.0.0.1", port, names: [] },
    ...{ trust: () => ({ authority, clientCa: authority.ca }), clock: quick, warn },
  });
  onTestFinished(() => server.close());
  const credentials = directorCredentials({
    trust: () => ({ authority, serverCa: authority.ca }),
    clock: systemClock,
  });
  const bus = (shown = credentials) => {
    const one = new NatsBus({
      urls: [`nats://127.0.0.1:${port}`],
      ...{ credentials: shown, clock: quick, random: systemRandom, warn: () => undefined },
    });
    onTestFinished(() => one.close());
    return one;
  };
  const pid = async () =>
    (JSON.parse(await readFile(join(dir, "process.json"), "utf8")) as { pid: number }).pid;
  return { server, bus, dir, port, pid, warnings, authority };
}

/**
 * Asks over the bus. "nobody" is the answer of a server that knows the Director; an absent server is asked until the deadline.
 */
const answers = async (bus: NatsBus, withinMs = 60_000): Promise<string> => {
  const request = {
    agentId: "agent-1",
    body: () => "{}",
    withinMs,
    signal: undefined,
    harmless: true,
  };
  return (await bus.request(request)).kind;
};

const mounts = needs(
  "root-tmpfs",
  process.getuid?.() === 0 && process.platform === "linux",
  "a full disk is made of a tmpfs, by root",
);

sampleTests(1 / 3);

describe.runIf(here && mounts)("the NATS server of a Director on a full disk", () => {
  it("goes on as it is, says why it learns of no agents, and learns of all once there is room", async () => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    await mustRun(systemExec, "preparing the test", "mount", [
      "-t",
      "tmpfs",
      "-o",
      "size=512k",
      "none",
      path,
    ]);
    onTestFinished(async () => void (await mustRun(systemExec, "cleaning up", "umount", ["-l", path])));
    const { server, bus, dir } = await made({ dir: join(path, "nats") });
    await server.start([]);
    const director = bus();
    expect(await answers(director)).toBe("nobody");
    const filler = join(path, "filler");
    await expect(writeFile(filler, Buffer.alloc(1 << 20))).rejects.toThrow("ENOSPC");
    const agents = Array.from({ length: 50 }, (_, at) => ({
      agentId: `agent-${at}` as AgentId,
      lasting: false,
    }));
    await expect(server.allow(agents)).rejects.toThrow("ENOSPC");
    expect(await answers(director)).toBe("nobody");
    expect(await readFile(join(dir, "nats.conf"), "utf8")).toContain("director.bosh-internal");
    await rm(filler);
    await server.allow(agents);
    expect(await readFile(join(dir, "nats.conf"), "utf8")).toContain("CN=agent-49.agent.bosh-internal");
    expect(await answers(director)).toBe("nobody");
  });
});

describe.runIf(here)("the NATS server of a Director", () => {
  it("knows the Director, and its files are its owner's alone", async () => {
    const { server, bus, dir } = await made();
    await server.start([]);
    expect(await answers(bus())).toBe("nobody");
    for (const file of ["nats.conf", "server.key", "server.crt", "clients.crt"])
      expect((await stat(join(dir, file))).mode & 0o777, file).toBe(0o600);
  });

  it.each([
    ["alternative name, whatever its subject", "somebody", [DIRECTOR_NAME]],
    ["subject, where a certificate of before has no other name", DIRECTOR_NAME, []],
  ])("knows a client by its %s", async (_, commonName, dns) => {
    const { server, bus, authority } = await made();
    await server.start([]);
    const shown = async () => {
      const order = {
        subject: "bosh",
        commonName,
        sans: { dns, ips: [] },
        usage: "client",
        days: 1,
      } as const;
      return { ...(await authority.issue(order)), ca: authority.ca };
    };
    expect(await answers(bus(shown))).toBe("nobody");
  });

  it("learns of agents that come while it runs", async () => {
    const { server, dir } = await made();
    await server.start([]);
    await server.allow([{ agentId: "agent-1" as AgentId, lasting: false }]);
    await expect
      .poll(() => readFile(join(dir, "nats-server.log"), "utf8"))
      .toContain("Reloaded server configuration");
  });

  it("is started again when it dies", async () => {
    const { server, bus, pid, warnings } = await made();
    await server.start([]);
    const director = bus();
    expect(await answers(director)).toBe("nobody");
    const before = await pid();
    process.kill(before, "SIGKILL");
    await expect.poll(pid).not.toBe(before);
    await expect.poll(() => answers(director)).toBe("nobody");
    expect(warnings).toContain("the NATS server has ended; it is started again");
  });

  it("ends with the Director", async () => {
    const { server, bus, pid } = await made();
    await server.start([]);
    const was = await pid();
    await server.close();
    expect(() => process.kill(was, 0)).toThrow();
    expect(await answers(bus(), 2_000)).toBe("unconnected");
  });

  it("is ended at the next start if a killed Director has left it; another process with its pid is not", async () => {
    const { server, dir } = await made();
    const left = spawn("sleep", ["600"]);
    const other = spawn("sleep", ["600"]);
    onTestFinished(() => void other.kill("SIGKILL"));
    const ended = once(left, "exit");
    await mkdir(dir, { recursive: true });
    const note = (of: object) => writeFile(join(dir, "process.json"), JSON.stringify(of));
    await note(identityOf(left.pid ?? 0));
    await server.start([]);
    await ended;
    await server.close();
    const next = await made({ dir });
    await note({ ...identityOf(other.pid ?? 0), started: "1" });
    await next.server.start([]);
    expect(other.exitCode ?? other.signalCode).toBe(null);
  });

  it("reports a program that is not installed", async () => {
    const { server } = await made({ program: "nats-server-that-is-not-there" });
    await expect(server.start([])).rejects.toSatisfy((error) => NatsServerMissing.is(error));
  });

  it("reports a taken port in the words of the server", async () => {
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    const { server } = await made({ port });
    const error = await server.start([]).catch((caught: unknown) => caught);
    expect(NatsServerFailed.is(error)).toBe(true);
    expect(String(error)).toContain("address already in use");
  });
});
