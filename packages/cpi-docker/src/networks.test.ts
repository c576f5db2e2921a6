import { join } from "node:path";
import { DockerCloud, engineTrouble, HOST, manual, nextAddress } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refused } from "./engine/engine.ts";
import { execIn } from "./engine/exec.ts";
import { LABEL, labelled } from "./labels.ts";
import { EngineProxy } from "./testing/engine-proxy.ts";

const trouble = HOST.startsWith("unix://") ? await engineTrouble() : "the engine is not behind a socket";

describe.runIf(needs("docker", trouble === undefined, trouble))("a network that was made for a VM", () => {
  let cloud: DockerCloud;
  let stemcell: string;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    stemcell = await cloud.newStemcell();
  });
  afterAll(() => cloud.close());

  const named = (ip: string) => `slipway-${ip.replace(/\d+$/, "0")}-24`;
  const exists = async (name: string) => {
    const { engine } = await cloud.cloud();
    const reply = await engine.attempt({ doing: "looking", method: "GET", path: `/networks/${name}` });
    if (!refused(reply)) reply.discard();
    return !refused(reply);
  };

  it("goes with the last VM, and stays while there is another one, also one that is off", async () => {
    const one = await cloud.newVm(stemcell);
    const other = await cloud.newVm(stemcell);
    const network = named(one.ip);
    const { engine } = await cloud.cloud();
    await engine.run({
      doing: "stopping",
      method: "POST",
      path: `/containers/${other.cid}/stop`,
      query: { t: "0" },
    });
    await cloud.result("delete_vm", [one.cid]);
    expect(await exists(network)).toBe(true);
    await cloud.result("reboot_vm", [other.cid]);
    await other.pong();
    await cloud.result("delete_vm", [other.cid]);
    expect(await exists(network)).toBe(false);
  });

  it("may be of IPv6, beside one of IPv4", async () => {
    const ip = nextAddress();
    const third = ip.split(".")[2];
    const six = {
      type: "manual",
      ip: `fd00:d0c:${third}::7`,
      netmask: "ffff:ffff:ffff:ffff:0000:0000:0000:0000",
      gateway: `fd00:d0c:${third}::1`,
    };
    const networks = { a: manual(ip, { default: ["dns", "gateway"] }), six };
    const [cid] = await cloud.result<[string]>("create_vm", cloud.vmArguments(stemcell, networks));
    const { engine } = await cloud.cloud();
    const { stdout } = await execIn(engine, cid, ["ip", "-o", "addr"], "looking for addresses");
    expect(stdout).toContain(` ${ip}/24 `);
    expect(stdout).toContain(` ${six.ip}/64 `);
    expect(await exists(`slipway-fd00_d0c_${third}__-64`)).toBe(true);
    await cloud.result("delete_vm", [cid]);
    expect(await exists(`slipway-fd00_d0c_${third}__-64`)).toBe(false);
  });

  it("goes when the VM it was made for cannot be made", async () => {
    const ip = nextAddress();
    const properties = { capabilities: ["NO_SUCH_ONE"] };
    await cloud.refusal("create_vm", cloud.vmArguments(stemcell, { a: manual(ip) }, properties));
    expect(await exists(named(ip))).toBe(false);
  });

  it("stays if create_network or another client of the engine made it", async () => {
    const ip = nextAddress();
    const { engine } = await cloud.cloud();
    const Name = `foreign-${cloud.director}`;
    const IPAM = { Config: [{ Subnet: ip.replace(/\d+$/, "0/24") }] };
    await engine.run({
      doing: "making",
      method: "POST",
      path: "/networks/create",
      body: { Name, Driver: "bridge", IPAM },
    });
    const [managed, , properties] = await cloud.result<[string, object, object]>("create_network", [
      { type: "manual", range: "10.214.8.0/24", gateway: "10.214.8.1" },
    ]);
    const networks = { a: manual(ip), b: manual("10.214.8.9", { cloud_properties: properties }) };
    const [cid] = await cloud.result<[string]>("create_vm", cloud.vmArguments(stemcell, networks));
    await cloud.result("delete_vm", [cid]);
    expect(await exists(Name)).toBe(true);
    expect(await exists(managed)).toBe(true);
    await cloud.result("delete_network", [managed]);
    await engine.run({ doing: "removing", method: "DELETE", path: `/networks/${Name}` });
  });

  it("is as large as asked for if the engine chooses its range, or is not made", async () => {
    const [cid, { range }] = await cloud.result<[string, { range: string }]>("create_network", [
      { type: "manual", netmask_bits: 28 },
    ]);
    expect(Number(range.split("/")[1])).toBeLessThanOrEqual(28);
    await cloud.result("delete_network", [cid]);
    expect(await cloud.refusal("create_network", [{ type: "manual", netmask_bits: 2 }])).toContain(
      "NotSupported",
    );
    const { engine } = await cloud.cloud();
    const query = { filters: labelled({ [LABEL.kind]: "network", [LABEL.director]: cloud.director }) };
    const listing = { doing: "listing", method: "GET", path: "/networks", query } as const;
    expect(await engine.json(v.array(v.unknown()), listing)).toEqual([]);
  });

  it("is made again when it goes at any moment while a VM is made in it", async () => {
    const proxy = await EngineProxy.open(join(cloud.dir, "engine.sock"), HOST.replace("unix://", ""));
    const { engine } = await cloud.cloud();
    let removed = 0;
    for (let at = 1, reached = true; reached; at++) {
      const ip = nextAddress();
      reached = false;
      proxy.trap(at, "meanwhile", async () => {
        reached = true;
        const path = `/networks/${named(ip)}`;
        const reply = await engine.attempt({ doing: "removing", method: "DELETE", path });
        if (refused(reply)) return;
        reply.discard();
        removed += 1;
      });
      Object.assign(cloud.config, { host: `unix://${proxy.path}` });
      const vm = await cloud.newVm(stemcell, ip).finally(() => Object.assign(cloud.config, { host: HOST }));
      await vm.pong();
      await cloud.result("delete_vm", [vm.cid]);
      expect(await exists(named(ip))).toBe(false);
    }
    await proxy.close();
    expect(removed).toBeGreaterThan(2);
  });
});
