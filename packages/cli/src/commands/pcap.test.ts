import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { captureBytes } from "../pcap/testing/captures.ts";
import { standIns } from "../pcap/testing/stand-ins.ts";
import { FakeDirector, INFO } from "../testing/fake-director.ts";
import { runCli } from "../testing/run-cli.ts";

let director: FakeDirector;
let dir: string;
let remove: () => Promise<void>;
let vms: Awaited<ReturnType<typeof standIns>>;
const bodies: { command: string; target: { job?: string }; params: { user: string } }[] = [];

const answer = (job: string, ip: string) => ({
  command: "setup",
  status: "success",
  ip,
  host_public_key: "ssh-ed25519 AAAA",
  job,
  id: ip.replaceAll(".", "-"),
  index: 0,
});
const ALL = [answer("web", "10.0.0.1"), answer("web", "10.0.0.2"), answer("db", "10.0.0.3")];

beforeEach(async () => {
  const directory = await temporaryDirectory();
  ({ path: dir, remove } = directory);
  vms = await standIns(dir);
  director = await FakeDirector.start();
  bodies.length = 0;
  let group: string | undefined;
  director.json("GET /info", INFO).task("POST /deployments/shop/ssh", 7, {});
  director.on("POST /deployments/shop/ssh", ({ body }) => {
    const order = JSON.parse(body) as (typeof bodies)[number];
    bodies.push(order);
    group = order.target.job;
    return { status: 302, headers: { location: "/tasks/7" } };
  });
  director.on("GET /tasks/7/output", ({ url }) => {
    const result = ALL.filter(({ job }) => group === undefined || job === group);
    return { body: url.includes("result") ? JSON.stringify(result) : "" };
  });
});
afterEach(async () => {
  await director.close();
  await remove();
});

const output = () => join(dir, "shop.pcap");
const stop = () => new AbortController();
function pcap(args: readonly string[], stopped = stop()) {
  const env = {
    ...vms.env,
    BOSH_ENVIRONMENT: director.url,
    BOSH_CA_CERT: director.ca,
    BOSH_CLIENT: "admin",
    BOSH_CLIENT_SECRET: "x",
  };
  return runCli(["-n", "-d", "shop", "pcap", ...args], { env, stop: stopped.signal });
}
const there = (...paths: readonly string[]) =>
  expect.poll(() => paths.filter((path) => !existsSync(path))).toEqual([]);
const calledWith = async (path: string) => (await readFile(path, "utf8")).trimEnd().split("\n");
/** All that is there but what tests have put there. */
const left = async () => (await readdir(dir)).filter((name) => name.includes("pcap"));

describe("slipway pcap", () => {
  it("captures in VMs of several slugs, each once, until it is stopped, and nothing goes on there", async () => {
    const one = await vms.vm("10.0.0.1", { first: captureBytes([[1, 1, "a"]]) });
    const last = captureBytes([[3, 3, "late"]]).subarray(24);
    const two = await vms.vm("10.0.0.2", { first: captureBytes([[2, 2, "b"]], { littleEndian: false }) });
    const three = await vms.vm("10.0.0.3", { first: captureBytes([]), last });
    await writeFile(output(), "of yesterday");
    const stopped = stop();
    const ran = pcap(["web", "web/0", "db", "-o", output()], stopped);
    await there(one("pid"), two("pid"), three("pid"));
    expect(await readFile(output(), "utf8")).toBe("of yesterday");
    stopped.abort();
    const { code, out, err } = await ran;
    expect(err).toContain("web/10-0-0-1: 2 packets dropped by kernel");
    expect(out).toContain(`3 packets from 3 VMs are in '${output()}'`);
    expect(code).toBe(0);
    const file = await readFile(output());
    expect(file.subarray(0, 24)).toEqual(captureBytes([]));
    expect(file.length).toBe(
      captureBytes([
        [1, 1, "a"],
        [2, 2, "b"],
        [3, 3, "late"],
      ]).length,
    );
    expect(file.includes(captureBytes([[2, 2, "b"]]).subarray(24))).toBe(true);
    expect(file.includes(last)).toBe(true);
    expect(await left()).toEqual(["shop.pcap"]);
    await there(one("over"), two("over"), three("over"));
    const users = (command: string) => bodies.filter((one) => one.command === command).length;
    expect([users("setup"), users("cleanup")]).toEqual([3, 3]);
  });

  it("hands on what was typed, and none of it is another command", async () => {
    const files = { first: captureBytes([]) };
    const [one, two, three] = await Promise.all(ALL.map(({ ip }) => vms.vm(ip, files)));
    const stopped = stop();
    const filter = "port 80'; touch $VM/owned; $(touch $VM/owned) `touch $VM/owned`";
    const ran = pcap(["-o", output(), "-i", "lo", "-s", "77", "-f", filter, "--stop-timeout=30s"], stopped);
    await there(...[one, two, three].map((vm) => vm?.("pid") ?? ""));
    stopped.abort();
    expect((await ran).out).toContain("0 packets from 3 VMs");
    const own = "not (host 10.9.9.9 and port 4711)";
    expect(await calledWith(one?.("called") ?? "")).toEqual([
      "-U",
      "-w",
      "-",
      "-i",
      "lo",
      "-s",
      "77",
      `${own} and (${filter})`,
    ]);
    expect(existsSync(one?.("owned") ?? "")).toBe(false);
  });

  it("tells of a VM that ends before it is stopped, and goes on with the others", async () => {
    const first = captureBytes([[1, 1, "a"]]);
    const one = await vms.vm("10.0.0.1", { first, ends: "" });
    const two = await vms.vm("10.0.0.2", { first, last: first.subarray(24) });
    const stopped = stop();
    const ran = pcap(["web", "-o", output()], stopped);
    await there(one("pid"), two("pid"));
    stopped.abort();
    expect((await ran).out).toContain("3 packets from 2 VMs");
    await vms.vm("10.0.0.2", { ends: "" });
    const again = await pcap(["web", "-o", output()]);
    expect(again.code).toBe(1);
    expect(again.err).toContain("not all was captured: web/10-0-0-");
    expect(again.err).toContain("it ended with 3: tcpdump: listening on eth0");
    expect(again.out).toContain("2 packets from 2 VMs");
  });

  // A machine with a tcpdump has it for these VMs too.
  const hasNone = !["/usr/bin", "/usr/sbin", "/sbin", "/usr/local/bin"].some((at) =>
    existsSync(`${at}/tcpdump`),
  );
  it.runIf(hasNone)("says which VM has no tcpdump, and ends the others", async () => {
    await vms.vm("10.0.0.1", {}, false);
    const two = await vms.vm("10.0.0.2", { first: captureBytes([[1, 1, "a"]]) });
    const { code, err } = await pcap(["web", "-o", output()]);
    expect(code).toBe(1);
    expect(err).toContain("there is no tcpdump in web/10-0-0-1");
    expect(err).toContain("Install the package tcpdump");
    expect(await left()).toEqual([]);
    if (existsSync(two("pid"))) await there(two("over"));
  });

  it("says what tcpdump says of a filter, and of a VM that is not reached", async () => {
    await vms.vm("10.0.0.3", { refuses: "tcpdump: can't parse filter expression: syntax error\n" });
    const refused = await pcap(["db", "-o", output(), "-f", "prot 80"]);
    expect(refused.err).toContain("db/10-0-0-3: it ended with 1: tcpdump: can't parse filter expression");
    await vms.vm("10.0.0.3", { gone: "" });
    const gone = await pcap(["db", "-o", output()]);
    expect([gone.code, gone.err]).toEqual([
      1,
      expect.stringContaining("it ended with 255: no route to host"),
    ]);
    expect(await left()).toEqual([]);
  });

  it("writes no file of links of different kinds", async () => {
    await vms.vm("10.0.0.1", { first: captureBytes([[1, 1, "a"]]) });
    await vms.vm("10.0.0.2", { first: captureBytes([[1, 1, "a"]], { linkType: 113 }) });
    const { code, err } = await pcap(["web", "-o", output()]);
    expect(code).toBe(1);
    expect(err).toMatch(/Ethernet of web\/10-0-0-1; Linux cooked v1 of web\/10-0-0-2/);
    expect(await left()).toEqual([]);
  });

  it.each([
    [["web"], "option '-o, --output <file>' is needed"],
    [["-o", "x", "-i", "-Z"], "is not the name of an interface"],
    [["-o", "x", "-i", "eth0;id"], "is not the name of an interface"],
    [["-o", "x", "-s", "1e5"], "is not a number of bytes"],
    [["-o", "x", "--stop-timeout", "5"], "is not a time"],
    [["-o", "x", "web/0/1"], "is not an instance"],
  ])("%j is a mistake, before anybody is asked", async (args, message) => {
    const { code, err } = await pcap(args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(director.seen).toEqual([]);
  });

  it("sends no request if the file cannot be written", async () => {
    const { code, err } = await pcap(["-o", join(dir, "none", "x.pcap")]);
    expect([code, err]).toEqual([1, expect.stringContaining("packets cannot be written to")]);
    expect(director.seen).toEqual([]);
  });
});
