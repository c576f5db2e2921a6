import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { systemExec } from "@slipway/kernel/exec";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { bundled } from "@slipway/testkit/bundle";
import { eventually } from "@slipway/testkit/eventually";
import { isRoot, LocalCloud, nextAddress, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

sampleTests(1 / 3);

const noSandbox = await sandboxTrouble();
const userns = needs("userns", noSandbox === undefined, noSandbox);
const veth =
  isRoot && (await systemExec("unshare", ["--net", "ip", "link", "add", "type", "veth"])).code === 0;
const netns = userns && needs("root-netns", veth, "networks need root, ip and veth");

let cloud: LocalCloud;
beforeAll(async () => {
  cloud = await LocalCloud.open();
});
afterAll(() => cloud.close());

describe.runIf(userns)("an address of 127.0.0.0/8", () => {
  it("is refused while another sandbox runs with it, and free afterwards", async () => {
    const ip = nextAddress();
    const first = await cloud.newVm(ip);
    const stemcell = await cloud.newStemcell();
    expect(await cloud.refusal("create_vm", cloud.vmArguments(stemcell, ip))).toContain(
      `the address ${ip} cannot be used: the sandbox ${first} has it`,
    );
    await cloud.result("delete_vm", [first]);
    const second = await cloud.newVm(ip);
    await cloud.result("delete_vm", [second]);
  });

  it("is refused while another program has its agent's port", async () => {
    const ip = nextAddress();
    const server = createServer().listen(6868, ip);
    await once(server, "listening");
    const stemcell = await cloud.newStemcell();
    expect(await cloud.refusal("create_vm", cloud.vmArguments(stemcell, ip))).toMatch(
      /LOC-005 .*listens there on port 6868/,
    );
    server.close();
    await once(server, "close");
    expect(await cloud.traces()).toEqual([]);
  });
});

describe.runIf(netns)("sandboxes with a network of their own", () => {
  const program = bundled("../main.ts", import.meta.url);
  let holder: ChildProcess;
  /** A host's network of the test's own: no firewall or routes of the host are in the way, or changed. */
  const inHost = (...command: string[]) => ["--net", "--target", String(holder.pid), "--", ...command];
  const onHost = (...command: string[]) => systemExec("nsenter", inHost(...command));

  beforeAll(async () => {
    holder = spawn("unshare", ["--net", "sh", "-c", "ip link set lo up && echo up && exec cat"]);
    await once(holder.stdout as Readable, "data");
    await onHost("ip", "link", "add", "real0", "type", "veth", "peer", "name", "real1");
    await onHost("ip", "addr", "add", "10.9.0.2/24", "dev", "real0");
    // Addresses that the kernel adds later, and a state that it sets later, would be traces.
    for (const end of ["real0", "real1"]) await onHost("ip", "link", "set", end, "up", "addrgenmode", "none");
    for (const end of ["real0", "real1"])
      await eventually(`${end} being up`, async () =>
        /\sUP\s/.test((await onHost("ip", "-br", "addr", "show", end)).stdout) ? true : undefined,
      );
    const file = join(cloud.dir, "cpi.json");
    await writeFile(file, JSON.stringify({ cloud: { properties: { local: cloud.config } } }));
    const embedded = cloud.through;
    cloud.through = async (request) => {
      const args = inHost(process.execPath, program(), "--configFile", file);
      const { stdout } = await systemExec("nsenter", args, { input: JSON.stringify(request) });
      return JSON.parse(stdout) as CpiResponse;
    };
    return () => {
      cloud.through = embedded;
      holder.kill("SIGKILL");
    };
  });

  const args = async (ip: string, gateway = "10.8.0.1") => {
    const network = { type: "manual", ip, netmask: "255.255.255.0", gateway, default: ["dns", "gateway"] };
    return ["agent", await cloud.newStemcell(), {}, { private: network }, [], {}];
  };
  const serve = (ip: string) =>
    `/run/slipway/node -e 'require("net").createServer((s) => s.end("hello from ${ip}")).listen(80, "${ip}")' > /dev/null 2>&1 &`;
  const ask = (ip: string) =>
    `require("net").connect(80, "${ip}").on("data", (d) => process.stdout.write(d)).on("error", () => process.exit(1))`;

  it("are reached from the host and from each other, and leave no trace of it", async () => {
    const before = (await onHost("sh", "-c", "ip route; ip -br addr")).stdout;
    const [one] = await cloud.result<[string]>("create_vm", await args("10.8.0.2"));
    const [two] = await cloud.result<[string]>("create_vm", await args("10.8.0.3"));
    const fromHost = async (ip: string) => (await onHost(process.execPath, "-e", ask(ip))).stdout;
    const fromVm = async (vm: string, ip: string) =>
      (await cloud.inside(vm, `/run/slipway/node -e '${ask(ip)}'`)).stdout;
    await cloud.insideMust(one, serve("10.8.0.2"));
    await cloud.insideMust(two, serve("10.8.0.3"));
    await expect.poll(() => fromHost("10.8.0.2")).toBe("hello from 10.8.0.2");
    await expect.poll(() => fromVm(one, "10.8.0.3")).toBe("hello from 10.8.0.3");
    await expect.poll(() => fromVm(two, "10.8.0.2")).toBe("hello from 10.8.0.2");
    expect(await cloud.insideMust(one, "ip -4 -o addr show eth0")).toContain("10.8.0.2/32");
    expect(await cloud.refusal("create_vm", await args("10.8.0.2"))).toContain(`the sandbox ${one} has it`);
    // It keeps its addresses.
    await cloud.result("reboot_vm", [one]);
    await cloud.insideMust(one, serve("10.8.0.2"));
    await expect.poll(() => fromHost("10.8.0.2")).toBe("hello from 10.8.0.2");
    for (const vm of [one, two]) await cloud.result("delete_vm", [vm]);
    expect((await onHost("sh", "-c", "ip route; ip -br addr")).stdout).toBe(before);
  });

  it("are reached in both families, and leave no trace of it", async () => {
    const state = "ip route; ip -6 route; ip -br addr show real0";
    const before = (await onHost("sh", "-c", state)).stdout;
    const [agent, stemcell, properties, networks, ...rest] = await args("10.8.0.4");
    const six = { type: "manual", ip: "fd00:8::4", netmask: "ffff:ffff:ffff:ffff::", gateway: "fd00:8::1" };
    const dual = { ...(networks as object), six };
    const [vm] = await cloud.result<[string]>("create_vm", [agent, stemcell, properties, dual, ...rest]);
    for (const ip of ["10.8.0.4", "fd00:8::4"]) {
      await cloud.insideMust(vm, serve(ip));
      await expect
        .poll(async () => (await onHost(process.execPath, "-e", ask(ip))).stdout)
        .toBe(`hello from ${ip}`);
    }
    expect(await cloud.refusal("create_vm", [agent, stemcell, properties, { six }, ...rest])).toContain(
      `the sandbox ${vm} has it`,
    );
    await cloud.result("delete_vm", [vm]);
    expect((await onHost("sh", "-c", state)).stdout).toBe(before);
  });

  it("get no address that the host has, or has a way to", async () => {
    await onHost("ip", "addr", "add", "fd00:9::2/64", "dev", "real0", "nodad");
    const six = { type: "manual", ip: "fd00:9::7", netmask: "ffff:ffff:ffff:ffff::", gateway: "fd00:9::1" };
    expect(
      await cloud.refusal("create_vm", ["agent", await cloud.newStemcell(), {}, { six }, [], {}]),
    ).toContain("this host's way to it is fd00:9::/64 by real0");
    expect(await cloud.refusal("create_vm", await args("10.9.0.2"))).toContain("this host's own, on real0");
    expect(await cloud.refusal("create_vm", await args("10.9.0.7"))).toContain(
      "this host's way to it is 10.9.0.0/24 by real0",
    );
  });
});
