import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CPI_METHOD_NAMES } from "@slipway/protocol/cpi/methods";
import { DockerCloud, DockerVm, engineTrouble, manual, nextAddress } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LABEL } from "./labels.ts";
import { listContainers } from "./vms/containers.ts";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("a VM of the Docker CPI", () => {
  let cloud: DockerCloud;
  let stemcell: string;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    stemcell = await cloud.newStemcell();
  });
  afterAll(() => cloud.close());

  const containers = async (labels: object = {}) =>
    await listContainers(await cloud.cloud(), {
      [LABEL.director]: cloud.director,
      [LABEL.kind]: "vm",
      ...labels,
    });

  it("has an agent that answers, and leaves nothing after delete_vm", async () => {
    const vm = await (await cloud.newVm(stemcell)).pong();
    expect(await cloud.result("has_vm", [vm.cid])).toBe(true);
    await cloud.result("delete_vm", [vm.cid]);
    expect(await cloud.result("has_vm", [vm.cid])).toBe(false);
    expect(await containers()).toEqual([]);
    const { engine } = await cloud.cloud();
    const volumes = await engine.stream({
      doing: "looking",
      method: "GET",
      path: "/volumes",
      query: { filters: JSON.stringify({ label: [`${LABEL.cid}=${vm.cid}`] }) },
    });
    expect(JSON.parse(await volumes.text())).toMatchObject({ Volumes: [] });
    expect(await cloud.refusal("delete_vm", [vm.cid])).toContain("VMNotFound");
  });

  it("is not privileged, and has the capabilities, limits and labels it should", async () => {
    const properties = { cpu: 0.5, ram: 256, pids: 200, ports: ["127.0.0.1:0:80"] };
    const vm = await cloud.newVm(stemcell, nextAddress(), properties);
    const { Config, HostConfig } = (await vm.look()) as { Config: { Labels: object }; HostConfig: object };
    expect(HostConfig).toMatchObject({
      Privileged: false,
      CapAdd: ["SYS_ADMIN", "NET_ADMIN", "MKNOD", "AUDIT_WRITE", "NET_RAW"],
      DeviceCgroupRules: ["b 7:* rwm"],
      RestartPolicy: { Name: "always" },
      NanoCpus: 5e8,
      Memory: 256 * 2 ** 20,
      PidsLimit: 200,
    });
    expect(Config.Labels).toMatchObject({
      [LABEL.kind]: "vm",
      [LABEL.cid]: vm.cid,
      [LABEL.director]: cloud.director,
      [LABEL.deployment]: "shop",
      [LABEL.instanceGroup]: "db",
      [LABEL.stemcell]: stemcell,
      [LABEL.agent]: expect.stringMatching(/^agent-/),
      [LABEL.request]: expect.stringMatching(/^request-/),
    });
    await cloud.result("delete_vm", [vm.cid]);
  });

  it("keeps its settings from other users, and has no secret among its labels, environment and command", async () => {
    const vm = await (await cloud.newVm(stemcell)).pong();
    expect(await vm.must("stat -c %a:%U /var/vcap/bosh/warden-cpi-agent-env.json")).toBe("600:root");
    expect(JSON.stringify(await vm.look())).not.toMatch(/s3cret|PRIVATE KEY/);
    await cloud.result("delete_vm", [vm.cid]);
  });

  it("is made once, however often the same request comes, also when nothing is remembered of the first", async () => {
    const ip = nextAddress();
    const args = cloud.vmArguments(stemcell, { private: manual(ip) });
    const [first] = await cloud.result<[string]>("create_vm", args, "the-same-request");
    const vm = await new DockerVm(cloud, first, ip).pong();
    const { Id } = await vm.look();
    for (const forget of [false, true]) {
      if (forget) await rm(join(cloud.dir, "sdk"), { recursive: true });
      expect((await cloud.result<[string]>("create_vm", args, "the-same-request"))[0]).toBe(first);
      expect((await vm.look()).Id).toBe(Id);
    }
    expect(await containers()).toHaveLength(1);
    await cloud.result("delete_vm", [first]);
  });

  it("starts again after reboot_vm, running or not, with its address", async () => {
    const vm = await (await cloud.newVm(stemcell)).pong();
    const started = async () => ((await vm.look()) as { State: { StartedAt: string } }).State.StartedAt;
    const first = await started();
    await cloud.result("reboot_vm", [vm.cid]);
    expect(await started()).not.toBe(first);
    await vm.pong();
    const { engine } = await cloud.cloud();
    await engine.run({
      doing: "stopping",
      method: "POST",
      path: `/containers/${vm.cid}/stop`,
      query: { t: "0" },
    });
    expect(await cloud.result("has_vm", [vm.cid])).toBe(true);
    await cloud.result("reboot_vm", [vm.cid]);
    await vm.pong();
    await cloud.result("delete_vm", [vm.cid]);
  });

  it("stays off once its agent got shutdown, until reboot_vm", async () => {
    const vm = await (await cloud.newVm(stemcell)).pong();
    const starts = async () => ((await vm.look()) as { RestartCount: number }).RestartCount;
    await vm.ask("shutdown").catch(() => undefined);
    await expect.poll(starts).toBe(1);
    await expect.poll(async () => (await vm.run("ps -ef")).stdout).toContain("sleep 86400");
    expect((await vm.run("ps -ef")).stdout).not.toContain("slipway-agent");
    await cloud.result("reboot_vm", [vm.cid]);
    await vm.pong();
    await cloud.result("delete_vm", [vm.cid]);
  });

  it("has every network it was given, and its way out by the default one", async () => {
    const [one, two] = [nextAddress(251), nextAddress(252)];
    const networks = { a: manual(one, { default: ["dns"] }), b: manual(two, { default: ["gateway"] }) };
    const [cid] = await cloud.result<[string]>("create_vm", cloud.vmArguments(stemcell, networks));
    const vm = await new DockerVm(cloud, cid, one).pong();
    const addresses = await vm.must("ip -o -4 addr");
    expect(addresses).toContain(`${one}/24`);
    expect(addresses).toContain(`${two}/24`);
    expect(await vm.must("ip route show default")).toContain(`via ${two.replace(/\d+$/, "1")}`);
    await new DockerVm(cloud, cid, two).pong();
    await cloud.result("reboot_vm", [cid]);
    await vm.pong();
    expect(await vm.must("ip route show default")).toContain(`via ${two.replace(/\d+$/, "1")}`);
    await cloud.result("delete_vm", [cid]);
  });

  it("can be in a dynamic network, and in one that create_network made", async () => {
    const [network, made, properties] = await cloud.result<
      [string, { range: string; gateway: string }, object]
    >("create_network", [{ type: "manual", range: "10.214.7.0/24", gateway: "10.214.7.1" }]);
    expect(made).toEqual({ range: "10.214.7.0/24", gateway: "10.214.7.1", reserved: [] });
    const networks = { d: { type: "dynamic" }, m: manual("10.214.7.9", { cloud_properties: properties }) };
    const [cid] = await cloud.result<[string]>("create_vm", cloud.vmArguments(stemcell, networks));
    await new DockerVm(cloud, cid, "10.214.7.9").pong();
    expect(await cloud.refusal("delete_network", [network])).toContain("has VMs in it");
    await cloud.result("delete_vm", [cid]);
    await cloud.result("delete_network", [network]);
    expect(await cloud.refusal("delete_network", [network])).toContain("NetworkNotFound");
  });

  it("is described by what set_vm_metadata said last", async () => {
    const vm = await cloud.newVm(stemcell);
    await cloud.result("set_vm_metadata", [vm.cid, { name: "db/0", odd: `ü"'$(x)${"x".repeat(3000)}` }]);
    await cloud.result("set_vm_metadata", [vm.cid, { name: "db/1", index: "0" }]);
    expect(JSON.parse(await vm.must("cat /var/lib/slipway/metadata.json"))).toEqual({
      name: "db/1",
      index: "0",
    });
    await cloud.result("delete_vm", [vm.cid]);
  });

  it("has a log that get_vm_log gives, running or not, without the credentials of its settings", async () => {
    const args = cloud.vmArguments(stemcell, { d: { type: "dynamic" } });
    const mbus = "https://user:a-password-of-the-bus@0.0.0.0:6868";
    const [cid] = await cloud.result<[string]>(
      "create_vm",
      args.with(5, { bosh: { mbus: { urls: [mbus] } } }),
    );
    const vm = new DockerVm(cloud, cid, "");
    await vm.must(`echo 'it talks of ${mbus}' >/proc/1/fd/1`);
    const log = () => cloud.result<string>("get_vm_log", [cid]);
    await expect.poll(log).toContain("it talks of <redacted>\n");
    const { engine } = await cloud.cloud();
    await engine.run({ doing: "stopping", method: "POST", path: `/containers/${cid}/kill` });
    await expect.poll(log).toMatch(/it talks of <redacted>\n(.*\n)*the VM is off\n$/);
    await cloud.result("delete_vm", [cid]);
    expect(await cloud.refusal("get_vm_log", [cid])).toContain("VMNotFound");
  });

  it("leaves nothing when its container was removed outside the CPI", async () => {
    const { cid } = await cloud.newVm(stemcell);
    const { engine } = await cloud.cloud();
    const query = { filters: JSON.stringify({ label: [`slipway.cid=${cid}`] }) };
    const look = { doing: "looking", method: "GET", path: "/volumes", query } as const;
    const volumes = async () =>
      (await engine.json(v.looseObject({ Volumes: v.nullable(v.array(v.unknown())) }), look)).Volumes ?? [];
    await engine.run({
      doing: "removing",
      method: "DELETE",
      path: `/containers/${cid}`,
      query: { force: "true" },
    });
    expect(await volumes()).toHaveLength(1);
    expect(await cloud.refusal("delete_vm", [cid])).toContain("VMNotFound");
    expect(await volumes()).toEqual([]);
  });

  it("comes twenty at once", async () => {
    const vms = await Promise.all(Array.from({ length: 20 }, () => cloud.newVm(stemcell)));
    for (const vm of vms) await vm.pong();
    expect(new Set(vms.map(({ cid }) => cid)).size).toBe(20);
    await Promise.all(vms.map(({ cid }) => cloud.result("delete_vm", [cid])));
    expect(await containers()).toEqual([]);
  });

  describe("beside another one", () => {
    let taken = "";
    let named = "";
    beforeAll(async () => {
      const vm = await cloud.newVm(stemcell);
      taken = vm.ip;
      named = `slipway-${vm.ip.replace(/\d+$/, "0")}-24`;
    });

    it.each([
      ["an address that another VM has", () => ({ n: manual(taken) }), "DOC-010"],
      [
        "an address outside the named network",
        () => ({ n: manual("10.99.0.5", { cloud_properties: { name: named } }) }),
        "DOC-010",
      ],
      ["a text as an address", () => ({ n: manual("10.0.0.x") }), "DOC-010"],
      [
        "a network that is not there",
        () => ({ n: manual(nextAddress(), { cloud_properties: { name: "nowhere" } }) }),
        "DOC-011",
      ],
      [
        "a network without fixed addresses",
        () => ({ n: manual("172.17.0.9", { cloud_properties: { name: "bridge" } }) }),
        "DOC-011",
      ],
      ["an address without a netmask", () => ({ n: { type: "manual", ip: "10.217.0.5" } }), "DOC-011"],
      [
        "two networks of one range",
        () => ({ n: manual(nextAddress()), m: manual(nextAddress()) }),
        "DOC-011",
      ],
      [
        "a hostile network name",
        () => ({ n: manual(nextAddress(), { cloud_properties: { name: "../x?y" } }) }),
        "DOC-009",
      ],
    ])("is refused for %s, and nothing is left", async (_, networks, code) => {
      const before = (await containers()).length;
      expect(await cloud.refusal("create_vm", cloud.vmArguments(stemcell, networks()))).toContain(code);
      expect(await containers()).toHaveLength(before);
    });
  });

  it.each([
    ["more processors than there are", { cpu: 4000 }, "DOC-012"],
    ["no memory", { ram: 0 }, "DOC-009"],
    ["a port that is none", { ports: ["http"] }, "DOC-009"],
  ])("is refused for %s, and nothing is left", async (_, properties, code) => {
    const before = (await containers()).length;
    const args = cloud.vmArguments(stemcell, { n: manual(nextAddress()) }, properties);
    expect(await cloud.refusal("create_vm", args)).toContain(code);
    expect(await containers()).toHaveLength(before);
  });

  it("without a stemcell is an error", async () => {
    const args = (cid: string) => cloud.vmArguments(cid, { n: manual(nextAddress()) });
    for (const cid of ["stemcell-none", "../x", "alpine:latest"])
      expect(await cloud.refusal("create_vm", args(cid))).toContain("StemcellNotFound");
  });

  it("is not mistaken for a container that the CPI did not make", async () => {
    const { engine } = await cloud.cloud();
    const name = `foreign-${cloud.director}`;
    const body = { Image: `slipway-stemcell:${stemcell.replace("stemcell-", "")}` };
    await engine.run({ doing: "making", method: "POST", path: "/containers/create", query: { name }, body });
    expect(await cloud.result("has_vm", [name])).toBe(false);
    expect(await cloud.refusal("delete_vm", [name])).toContain("VMNotFound");
    expect(await cloud.refusal("reboot_vm", [name])).toContain("VMNotFound");
    await engine.run({ doing: "removing", method: "DELETE", path: `/containers/${name}` });
  });
});

describe.runIf(trouble === undefined)("the Docker CPI", () => {
  let cloud: DockerCloud;
  beforeAll(async () => {
    cloud = await DockerCloud.open();
  });
  afterAll(() => cloud.close());

  it("has every method of the contract that is not for others", async () => {
    const unknown: string[] = [];
    for (const method of CPI_METHOD_NAMES) {
      const { error } = await cloud.ask(method, []);
      if (error?.type === "Bosh::Clouds::NotImplemented") unknown.push(method);
    }
    // The cid of the CPI's own host is unknown.
    expect(unknown).toEqual(["current_vm_id"]);
  });

  it("answers a request for resources with a VM type, and an impossible one with an error", async () => {
    const desired = { cpu: 1, ram: 1024, ephemeral_disk_size: 4096 };
    expect(await cloud.result("calculate_vm_cloud_properties", [desired])).toEqual(desired);
    expect(await cloud.refusal("calculate_vm_cloud_properties", [{ ...desired, cpu: 9999 }])).toContain(
      "processors",
    );
    expect(await cloud.refusal("calculate_vm_cloud_properties", [{ ...desired, ram: 2 ** 30 }])).toContain(
      "MiB",
    );
  });

  it("gives networks without a range one of the engine's choice, and refuses one that is taken", async () => {
    const [cid, made] = await cloud.result<[string, { range: string }]>("create_network", [
      { type: "manual" },
    ]);
    expect(made.range).toMatch(/^\d+\.\d+\.\d+\.\d+\/\d+$/);
    expect(await cloud.refusal("create_network", [{ type: "manual", range: made.range }])).toContain(
      "DOC-011",
    );
    await cloud.result("delete_network", [cid]);
  });

  it("deletes no network it did not make", async () => {
    expect(await cloud.refusal("delete_network", ["bridge"])).toContain("NetworkNotFound");
  });
});
