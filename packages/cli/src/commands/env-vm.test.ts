import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { socksServer } from "@slipway/testkit/socks-server";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { standIns } from "../pcap/testing/stand-ins.ts";
import { runCli } from "../testing/run-cli.ts";

const PASSWORD = "p@ss word/1";
const ARCHIVE = "an archive of logs";

let dir: string;
let remove: () => Promise<void>;
let server: Server;
let ca: string;
let env: Readonly<Record<string, string>>;
/** Requests that the agent received, in order. */
let asked: { method: string; arguments: unknown[] }[];

const VALUES: Readonly<Record<string, unknown>> = {
  ping: "pong",
  ssh: { command: "setup", status: "success", ip: "10.0.0.1", host_public_key: "ssh-rsa AAAA a comment" },
  fetch_logs: { blobstore_id: "b-1", sha1: createHash("sha1").update(ARCHIVE).digest("hex") },
  remove_file: "gone",
};

beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
  asked = [];
  const authority = await openAuthority({ dir: join(dir, "pki"), clock: systemClock, random: systemRandom });
  const issued = await authority.issue({
    commonName: "agent",
    sans: { dns: [], ips: ["127.0.0.1"] },
    usage: "server",
    days: 1,
  });
  ca = issued.ca;
  const expected = `Basic ${Buffer.from(`mbus:${PASSWORD}`).toString("base64")}`;
  server = createServer({ key: issued.privateKey, cert: issued.certificate }, (request, response) => {
    if (request.headers.authorization !== expected) return void response.writeHead(401).end();
    if (request.method === "GET") return void response.end(request.url === "/blobs/b-1" ? ARCHIVE : "none");
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const message = JSON.parse(Buffer.concat(pieces).toString()) as (typeof asked)[number];
      asked.push(message);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ value: VALUES[message.method] }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const vms = await standIns(dir);
  await vms.vm("10.0.0.1", { hello: "ahoy" });
  env = { ...vms.env, BOSH_AGENT_ENDPOINT: endpoint(), BOSH_AGENT_CERTIFICATE: ca };
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await remove();
});

const endpoint = (password = PASSWORD) =>
  `https://mbus:${encodeURIComponent(password)}@127.0.0.1:${(server.address() as AddressInfo).port}`;
const methods = () => asked.map(({ method, arguments: [first] }) => (method === "ssh" ? first : method));

describe("the VM of create-env", () => {
  it("is entered by its agent, and the user goes again", async () => {
    const { code, out, err } = await runCli(["ssh", "--director", "-c", 'cat "$VM/hello"'], { env });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("create-env-vm/0: stdout | ahoy");
    expect(methods()).toEqual(["ping", "setup", "cleanup"]);
    const [, setup, cleanup] = asked;
    const { user_regex: regex } = (cleanup?.arguments[1] ?? {}) as { readonly user_regex?: string };
    expect(regex).toMatch(/^\^bosh_/);
    expect(setup?.arguments[1]).toMatchObject({ user: regex?.slice(1) });
  });

  it("is asked through BOSH_ALL_PROXY", async () => {
    const proxy = await socksServer();
    onTestFinished(() => proxy.close());
    const through = { ...env, BOSH_ALL_PROXY: proxy.url };
    const { code, err } = await runCli(["logs", "--director", "--dir", dir], { env: through });
    expect([code, err]).toEqual([0, ""]);
    expect(proxy.seen).toContain(new URL(endpoint()).host);
  });

  it("is named by flags, with a certificate in a file", async () => {
    const file = join(dir, "ca.pem");
    await writeFile(file, ca);
    const flags = ["--agent-endpoint", endpoint(), "--agent-certificate", file];
    const { code } = await runCli(["ssh", "--director", "-c", "true", ...flags], {
      env: { PATH: env.PATH ?? "", VMS: env.VMS ?? "" },
    });
    expect(code).toBe(0);
  });

  it("gives its logs, checked, and keeps no archive", async () => {
    const to = join(dir, "logs");
    await mkdir(to);
    const { code, out } = await runCli(["logs", "--director", "--agent", "--only", "a*", "--dir", to], {
      env,
    });
    expect(code).toBe(0);
    const [name = ""] = await readdir(to);
    expect(name).toMatch(/^create-env-vm-logs-\d{8}-\d{6}\.tgz$/);
    expect(out).toContain(`Downloaded logs to '${join(to, name)}'`);
    expect(await readFile(join(to, name), "utf8")).toBe(ARCHIVE);
    expect(asked.slice(1).map(({ method, arguments: args }) => [method, ...args])).toEqual([
      ["fetch_logs", "agent", ["a*"]],
      ["remove_file", "/var/vcap/data/blobs/b-1"],
    ]);
  });

  it("rejects an agent with another certificate, and reports a refused password without showing it", async () => {
    const other = await openAuthority({ dir: join(dir, "o"), clock: systemClock, random: systemRandom });
    const strange = { ...env, BOSH_AGENT_CERTIFICATE: other.ca };
    const wrong = { ...env, BOSH_AGENT_ENDPOINT: endpoint("hunter2") };
    for (const [around, says] of [
      [strange, "is not the agent"],
      [wrong, "refused ping: it does not accept this password\n"],
    ] as const) {
      const { code, err } = await runCli(["ssh", "--director", "-c", "true"], { env: around });
      expect([code, err]).toEqual([1, expect.stringContaining(says)]);
      expect(err).toContain("--agent-certificate");
      expect(err).not.toMatch(/hunter2|p@ss|p%40ss/);
    }
    expect(asked).toEqual([]);
  });

  it.each([
    [["ssh", "--director", "web/0", "-c", "true"], {}, "'web/0' another one"],
    [["logs", "--director", "web"], {}, "'web' another one"],
    [["scp", "--director", "web/0:/a", "b"], {}, "'web/0' another one"],
    [["scp", "--director", "a", "b"], {}, "./app.log :/tmp"],
    [["-d", "shop", "ssh", "--director", "-c", "true"], {}, "leave out -d"],
    [["logs", "--director", "-d", "shop"], {}, "leave out -d"],
    [["ssh", "--director", "-c", "true"], { BOSH_AGENT_ENDPOINT: "" }, "requires both the --agent-endpoint"],
    [["logs", "--director"], { BOSH_AGENT_CERTIFICATE: "" }, "requires both the --agent-endpoint"],
    [["ssh", "--director"], { BOSH_AGENT_ENDPOINT: "https://a:hunter2@" }, "is not of the form"],
    [["ssh", "--director"], { BOSH_AGENT_ENDPOINT: "http://a:hunter2@b:1" }, "is not of the form"],
    [["ssh", "--director"], { BOSH_AGENT_ENDPOINT: "https://a:hunter2%zz@b:1" }, "is not of the form"],
    [["ssh", "--director"], { BOSH_AGENT_CERTIFICATE: "/none" }, "is no certificate"],
    [
      ["ssh", "-c", "true", "--agent-endpoint", "https://a:hunter2@b"],
      {},
      "--agent-endpoint is of --director",
    ],
  ])("%j with %j is refused, and nobody is asked", async (argv, more, says) => {
    const { code, err } = await runCli(argv, { env: { ...env, ...more } });
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
    expect(err).not.toContain("hunter2");
    expect(asked).toEqual([]);
  });
});
