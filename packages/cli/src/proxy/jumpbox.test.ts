import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { needs } from "@slipway/testkit/needs";
import { sshKey } from "@slipway/testkit/ssh-login";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Gateway, openGateway } from "../bosh-cli/testing/gateway.ts";
import { PROGRAMS } from "../bosh-cli/testing/requirements.ts";
import { FakeDirector } from "../testing/fake-director.ts";
import { runCli } from "../testing/run-cli.ts";
import { AllProxy } from "./all-proxy.ts";

const canEnter = needs(
  "sshd",
  existsSync("/usr/sbin/sshd") && existsSync("/usr/bin/ssh") && process.getuid?.() === 0,
  "openssh-server, its client, and root for a user of its own",
);

const PATH = process.env.PATH ?? "";

describe.runIf(canEnter)("a jumpbox", () => {
  let jumpbox: Gateway;
  let director: FakeDirector;
  let place: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    place = await temporaryDirectory();
    jumpbox = await openGateway(join(place.path, "jumpbox"));
    director = await FakeDirector.start();
    director.json("GET /info", { name: "far", uuid: "u", version: "1", user: "admin", cpi: "c" });
    director.json("GET /stemcells", []);
    await writeFile(director.file("ca.pem"), director.ca);
  });
  afterAll(async () => {
    await jumpbox.stop();
    await director.close();
    await place.remove();
  });

  const at = () => new URL(jumpbox.host).host;
  const url = (key = jumpbox.key, user = jumpbox.user, query = "") =>
    `ssh+socks5://${user}:CANARY@${at()}?private-key=${encodeURIComponent(key)}${query}`;
  const login = (proxy: string) => ({
    PATH,
    BOSH_ENVIRONMENT: director.url,
    BOSH_CA_CERT: director.file("ca.pem"),
    BOSH_CLIENT: "admin",
    BOSH_CLIENT_SECRET: "pw",
    BOSH_ALL_PROXY: proxy,
  });
  const slipway = (env: Record<string, string>, ...command: string[]) =>
    runCli(command, { env, home: join(place.path, "home") });
  const count = async () =>
    ((await readFile(join(place.path, "jumpbox", "log"), "utf8")).match(/Accepted publickey/g) ?? []).length;

  it("is entered once for all that a command asks, and left with it", async () => {
    const [entered, passed] = [await count(), await jumpbox.passed(director.port)];
    const { code, err } = await slipway(login(url()), "stemcells");
    expect(`${err}${code}`).toBe("0");
    expect(await jumpbox.passed(director.port)).toBeGreaterThan(passed);
    expect(await count()).toBe(entered + 1);
    await expect.poll(clients).toEqual([]);
  });

  it("reports a refused key once, without its secrets", async () => {
    const other = await sshKey(place.path, "other");
    const { code, err } = await slipway(login(url(other.path)), "stemcells");
    expect(code).toBe(1);
    expect(err).toContain(`the jumpbox of BOSH_ALL_PROXY, gate@127.0.0.1 port ${new URL(jumpbox.host).port}`);
    expect(err).toContain("Permission denied");
    expect(err.match(/BOSH_ALL_PROXY, gate/g)).toHaveLength(1);
    expect(err).not.toContain("CANARY");
  });

  it("is not asked without its key, without ssh, or when it must be known and is not", async () => {
    const none = await slipway(login(url("/nowhere/key")), "stemcells");
    expect(none.err).toContain("the key /nowhere/key is not there");
    const bare = await slipway({ ...login(url()), PATH: place.path }, "stemcells");
    expect(bare.err).toContain("there is no program 'ssh'");
    const strict = url(jumpbox.key, jumpbox.user, "&strict-host-key-checking=true");
    const unknown = await slipway({ ...login(strict), HOME: place.path }, "stemcells");
    expect(unknown.err).toContain("Host key verification failed");
  });

  it("reports a Director that the jumpbox cannot reach", async () => {
    const env = { ...login(url()), BOSH_ENVIRONMENT: "https://127.0.0.1:1" };
    const { code, err } = await slipway(env, "stemcells");
    expect(code).toBe(1);
    expect(err).toMatch(/asked for 127.0.0.1:1, hung up|as if nobody were there/);
  });

  it("is entered again when the connection to it was lost", async () => {
    // One of an earlier test may still be leaving.
    await expect.poll(clients).toEqual([]);
    const env = { PATH, BOSH_ALL_PROXY: url() };
    const proxy = new AllProxy({ env, clock: systemClock, random: systemRandom });
    onTestFinished(() => proxy.close());
    const { port } = await proxy.socks(url(), "a test");
    expect((await proxy.socks(url(), "a test")).port).toBe(port);
    const entered = await clients();
    expect(entered).not.toEqual([]);
    for (const client of entered) process.kill(client);
    await expect.poll(async () => (await proxy.socks(url(), "a test")).port).not.toBe(port);
  });

  it.runIf(existsSync(PROGRAMS.slipway))("is left when its client is killed", async () => {
    const { slipway: program } = PROGRAMS;
    const silent = await stuck();
    const child = spawn(process.execPath, [program, "stemcells"], {
      env: { ...login(url()), BOSH_ENVIRONMENT: `https://127.0.0.1:${silent}`, SLIPWAY_HOME: place.path },
    });
    await expect.poll(() => jumpbox.passed(silent)).toBeGreaterThan(0);
    await expect.poll(clients).toHaveLength(1);
    child.kill("SIGKILL");
    await expect.poll(clients).toEqual([]);
  });

  /** Returns a port with a server that never answers. */
  async function stuck(): Promise<number> {
    const server = createServer((socket) => socket.on("error", () => undefined).resume());
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  /** ssh processes that go through this jumpbox. */
  async function clients(): Promise<readonly number[]> {
    const found: number[] = [];
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      if (program.endsWith("/ssh") && line.includes(jumpbox.key)) found.push(Number(pid));
    }
    return found;
  }
});
