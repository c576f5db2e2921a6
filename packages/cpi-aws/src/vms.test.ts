import { awsSite, hasMoto } from "@slipway/testkit/aws-cloud";
import { liveRegistry } from "@slipway/testkit/registry";
import { allOf } from "@slipway/testkit/strict-aws-rules";
import { describe, expect, it } from "vitest";
import { POLICY_ACTIONS } from "./policy.ts";
import { AwsCpi } from "./testing/aws-cpi.ts";

describe.runIf(hasMoto())("the AWS CPI and its VMs:", () => {
  const site = awsSite(POLICY_ACTIONS);
  const cpi = new AwsCpi(site);
  let last = 10;
  const address = () => `10.0.1.${++last}`;
  const instance = (cid: string) => cpi.show("DescribeInstances", { "InstanceId.1": cid });
  const userDataOf = async (cid: string) => {
    const shown = await cpi.show("DescribeInstanceAttribute", { InstanceId: cid, Attribute: "userData" });
    return JSON.parse(Buffer.from(allOf(shown, "value")[0] ?? "", "base64").toString()) as Settings;
  };
  interface Settings {
    readonly networks: Record<string, { mac?: string; use_dhcp?: boolean }>;
    readonly disks: object;
    readonly agent_id: string;
    readonly mbus: string;
  }
  const alive = async () => (await cpi.call<{ vms: { cid: string }[] }>("list_resources", [])).vms.length;
  const interfaces = async () =>
    allOf(await cpi.show("DescribeNetworkInterfaces", {}), "networkInterfaceId").length;

  it("makes instance, volumes and interface by one action, with IMDSv2 required", async () => {
    const ip = address();
    const [cid, networks] = await cpi.call<[string, Record<string, { ip: string }>]>(
      "create_vm",
      cpi.vm({ private: cpi.network(ip) }),
    );
    const changing = site().proxy.calls.filter((call) => !/:(Describe|Get)/.test(call));
    expect(changing).toEqual(["ec2:RunInstances"]);
    const shown = await instance(cid);
    expect(allOf(shown, "privateIpAddress")).toContain(ip);
    expect(shown).toContain("<httpTokens>required</httpTokens>");
    expect(shown).toContain("<deviceName>/dev/sdb</deviceName>");
    expect(networks.private?.ip).toBe(ip);
    expect(await cpi.call("has_vm", [cid])).toBe(true);
    await cpi.call("delete_vm", [cid]);
    expect(await cpi.call("has_vm", [cid])).toBe(false);
  });

  it("gives the agent its settings as user-data, without a registry", async () => {
    const cid = await cpi.create({ private: cpi.network(address()) });
    expect(await userDataOf(cid)).toMatchObject({
      agent_id: "agent-1",
      mbus: "https://mbus:s3cret@0.0.0.0:6868",
      networks: { private: { use_dhcp: true } },
      disks: { system: "/dev/sda1", ephemeral: "/dev/sdb", persistent: {} },
    });
    await cpi.call("delete_vm", [cid]);
  });

  it("makes several interfaces first, whose MAC addresses are in the settings, and which go with the VM", async () => {
    const before = await interfaces();
    const cid = await cpi.create({
      front: cpi.network(address()),
      back: cpi.network(address()),
      extra: { type: "dynamic", cloud_properties: { subnet: site().subnet } },
    });
    const { networks } = await userDataOf(cid);
    const macs = Object.values(networks).map(({ mac }) => mac);
    expect(new Set(macs).size).toBe(3);
    expect(new Set(allOf(await instance(cid), "macAddress"))).toEqual(new Set(macs));
    await cpi.call("delete_vm", [cid]);
    expect(await interfaces()).toBe(before);
  });

  it("puts networks of one nic_group on one interface", async () => {
    const group = { nic_group: "1" };
    const v6 = { type: "manual", ip: "2600::5", netmask: "ffff:ffff:ffff:ffff::", gateway: "2600::1" };
    const cid = await cpi.create({
      four: cpi.network(address(), group),
      six: { ...v6, ...group, cloud_properties: { subnet: site().subnet } },
    });
    const { networks } = await userDataOf(cid);
    expect(networks.four?.mac).toBe(networks.six?.mac);
    expect(allOf(await instance(cid), "networkInterfaceId")).toHaveLength(1);
    await cpi.call("delete_vm", [cid]);
  });

  it("takes security groups of the VM type before those of networks before those of the configuration", async () => {
    const { groups, subnet } = site();
    const groupsOf = async (network: object, vm: object) => {
      const cid = await cpi.create({ private: cpi.network(address(), network) }, vm);
      const found = [...new Set(allOf(await instance(cid), "groupId"))];
      await cpi.call("delete_vm", [cid]);
      return found;
    };
    const databases = { cloud_properties: { subnet, security_groups: ["databases"] } };
    expect(await groupsOf({}, {})).toEqual([groups.jobs]);
    expect(await groupsOf(databases, {})).toEqual([groups.databases]);
    expect(await groupsOf(databases, { security_groups: [groups.jobs] })).toEqual([groups.jobs]);
  });

  it("gives a VM its elastic address, and moves it to the VM that replaces it", async () => {
    const allocated = await cpi.show("AllocateAddress", { Domain: "vpc" });
    const ip = allOf(allocated, "publicIp")[0] ?? "";
    const networks = () => ({ private: cpi.network(address()), public: { type: "vip", ip } });
    const first = await cpi.create(networks());
    const second = await cpi.create(networks());
    const shown = await cpi.show("DescribeAddresses", { "PublicIp.1": ip });
    expect(allOf(await instance(second), "networkInterfaceId")).toEqual(allOf(shown, "networkInterfaceId"));
    for (const cid of [first, second]) await cpi.call("delete_vm", [cid]);
  });

  it("answers a repeated request with the first one's VM", async () => {
    const args = cpi.vm({ private: cpi.network(address()) });
    const asked = { requestId: "repeated-request" };
    const [first] = await cpi.call<[string]>("create_vm", args, asked);
    site().proxy.calm();
    const [second] = await cpi.call<[string]>("create_vm", args, asked);
    expect(second).toBe(first);
    expect(site().proxy.calls).not.toContain("ec2:RunInstances");
    await cpi.call("delete_vm", [first]);
  });

  it("makes one VM although the answer to the launch is lost and the VM is shown late", async () => {
    const { proxy } = site();
    const before = await alive();
    proxy.loseAnswer("RunInstances");
    proxy.lag = { hidden: 2, states: 2 };
    const cid = await cpi.create({ private: cpi.network(address()) });
    proxy.lag = { hidden: 0, states: 0 };
    expect(await alive()).toBe(before + 1);
    await cpi.call("delete_vm", [cid]);
  });

  it("waits for the end of a VM that takes its time", async () => {
    const { proxy } = site();
    const cid = await cpi.create({ private: cpi.network(address()) });
    proxy.lag = { hidden: 0, states: 2 };
    await cpi.call("delete_vm", [cid]);
    expect(allOf(await instance(cid), "name")).toContain("terminated");
  });

  it("tries again when AWS throttles, and says so when it goes on", async () => {
    const { proxy } = site();
    proxy.refuse("DescribeSubnets", "RequestLimitExceeded", 2, 503);
    const cid = await cpi.create({ private: cpi.network(address()) });
    proxy.refuse("TerminateInstances", "RequestLimitExceeded", 10, 503);
    const refused = await cpi.refusal("delete_vm", [cid], { config: { max_retries: 1 } });
    expect(refused.message).toMatch(/AWS-007 ec2:TerminateInstances.*rate of requests.*after 2 tries/);
    proxy.calm();
    await cpi.call("delete_vm", [cid]);
  });

  it("uses an ordinary instance when there is no spot instance, if the type says so", async () => {
    const { proxy } = site();
    const spot = { spot_bid_price: 0.05 };
    proxy.refuse("RunInstances", "SpotMaxPriceTooLow", 1);
    const once = { config: { max_retries: 0 } };
    const cid = await cpi.create(
      { a: cpi.network(address()) },
      { ...spot, spot_ondemand_fallback: true },
      once,
    );
    expect(await instance(cid)).not.toContain("<instanceLifecycle>spot");
    await cpi.call("delete_vm", [cid]);
    proxy.refuse("RunInstances", "SpotMaxPriceTooLow", 1);
    const refused = await cpi.refusal("create_vm", cpi.vm({ a: cpi.network(address()) }, spot), once);
    expect(refused).toMatchObject({ type: "Bosh::Clouds::VMCreationFailed", ok_to_retry: true });
  });

  it("says to try again when there is no capacity, and leaves nothing", async () => {
    const before = [await alive(), await interfaces()];
    site().proxy.refuse("RunInstances", "InsufficientInstanceCapacity", 9, 500);
    const networks = { a: cpi.network(address()), b: cpi.network(address()) };
    const refused = await cpi.refusal("create_vm", cpi.vm(networks), { config: { max_retries: 1 } });
    expect(refused).toMatchObject({ type: "Bosh::Clouds::VMCreationFailed", ok_to_retry: true });
    expect(refused.message).toMatch(/AWS-008.*InsufficientInstanceCapacity/);
    expect([await alive(), await interfaces()]).toEqual(before);
  });

  it("names the permission that is missing", async () => {
    site().proxy.refuse("RunInstances", "UnauthorizedOperation", 9, 403);
    const refused = await cpi.refusal("create_vm", cpi.vm({ a: cpi.network(address()) }));
    expect(refused.message).toMatch(/AWS-004.*lacks the IAM permission ec2:RunInstances/);
  });

  it.each([
    ["ExpiredToken", /AWS-006.*have expired/],
    ["InvalidClientTokenId", /AWS-005.*does not accept the credentials/],
    ["VcpuLimitExceeded", /AWS-009.*quota/],
  ])("explains %s to operators", async (code, said) => {
    site().proxy.refuse("DescribeImages", code, 9, 400);
    const refused = await cpi.refusal("create_vm", cpi.vm({ a: cpi.network(address()) }));
    expect(refused.message).toMatch(said);
  });

  it("refuses a wrong key by its signature", async () => {
    const config = { secret_access_key: "not-the-key-of-the-test" };
    const refused = await cpi.refusal("create_vm", cpi.vm({ a: cpi.network(address()) }), { config });
    expect(refused.message).toMatch(/AWS-005.*SignatureDoesNotMatch/);
  });

  it("names the zones when VM type, subnets and disks are in different ones", async () => {
    const { otherSubnet } = site();
    const elsewhere = { cloud_properties: { subnet: otherSubnet } };
    const networks = { a: cpi.network(address()), b: cpi.network("10.0.2.9", elsewhere) };
    const refused = await cpi.refusal("create_vm", cpi.vm(networks));
    expect(refused.message).toMatch(/AWS-013.*us-east-1a.*us-east-1b/);
    const disk = await cpi.call<string>("create_disk", [1024, {}, null]);
    const away = cpi.vm({ b: cpi.network("10.0.2.9", elsewhere) }, {}, [disk]);
    expect((await cpi.refusal("create_vm", away)).message).toContain(`disk ${disk} is in us-east-1a`);
    await cpi.call("delete_disk", [disk]);
  });

  it("refuses an address that a running VM has, and names the VM", async () => {
    const ip = address();
    const cid = await cpi.create({ a: cpi.network(ip) });
    const refused = await cpi.refusal("create_vm", cpi.vm({ a: cpi.network(ip) }));
    expect(refused.message).toMatch(new RegExp(`AWS-014.*${ip}.*${cid}`));
    await cpi.call("delete_vm", [cid]);
  });

  it("frees an address that an interface of this Director without a VM has", async () => {
    const ip = address();
    const left = { "TagSpecification.1.ResourceType": "network-interface" };
    const tag = (at: number, key: string, value: string) => ({
      [`TagSpecification.1.Tag.${at}.Key`]: key,
      [`TagSpecification.1.Tag.${at}.Value`]: value,
    });
    const subnet = { SubnetId: site().subnet, PrivateIpAddress: ip };
    await cpi.show("CreateNetworkInterface", {
      ...subnet,
      ...left,
      ...tag(1, "slipway:director", "director-1"),
    });
    const cid = await cpi.create({ a: cpi.network(ip) });
    await cpi.call("delete_vm", [cid]);
  });

  it("refuses settings that user-data cannot hold before it makes anything", async () => {
    const env = { bosh: { blob: "x".repeat(17_000) } };
    const refused = await cpi.refusal("create_vm", cpi.vm({ a: cpi.network(address()) }, {}, [], env));
    expect(refused.message).toMatch(/AWS-017.*16384/);
    expect(site().proxy.calls).not.toContain("ec2:RunInstances");
  });

  it("keeps metadata as tags that EC2 takes, and lists them", async () => {
    const cid = await cpi.create({ a: cpi.network(address()) }, { tags: { team: "blue" } });
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`key-${at}`, "v".repeat(300)]));
    await cpi.call("set_vm_metadata", [cid, { name: "db/0", "aws:own": "no", ...many }]);
    const { vms } = await cpi.call<{ vms: { cid: string; metadata: Record<string, string> }[] }>(
      "list_resources",
      [],
    );
    const { metadata = {} } = vms.find((one) => one.cid === cid) ?? {};
    expect(metadata).toMatchObject({ name: "db/0", team: "blue", "key-0": "v".repeat(255) });
    expect(Object.keys(metadata)).not.toContain("aws:own");
    await cpi.call("reboot_vm", [cid]);
    await cpi.call("delete_vm", [cid]);
  });

  it("lists the VMs of the Director that asks only", async () => {
    const cid = await cpi.create({ a: cpi.network(address()) });
    const other = await cpi.call<{ vms: unknown[] }>("list_resources", [], { director: "director-2" });
    expect(other.vms).toEqual([]);
    await cpi.call("delete_vm", [cid]);
  });

  it("registers VMs with load balancers and target groups, and names one that is missing", async () => {
    const { vpc, proxy, subnet, otherSubnet } = site();
    const classic = { LoadBalancerName: "classic", "Subnets.member.1": subnet };
    const listener = { "Listeners.member.1.Protocol": "tcp", "Listeners.member.1.LoadBalancerPort": "80" };
    const port = { "Listeners.member.1.InstancePort": "80" };
    const elb = "elasticloadbalancing";
    await proxy.ask("CreateLoadBalancer", { ...classic, ...listener, ...port }, "2012-06-01", elb);
    const group = { Name: "web", Protocol: "TCP", Port: "80", VpcId: vpc };
    await proxy.ask("CreateTargetGroup", group, "2015-12-01", elb);
    expect(otherSubnet).not.toBe(subnet);
    const cid = await cpi.create(
      { a: cpi.network(address()) },
      { elbs: ["classic"], lb_target_groups: ["web"] },
    );
    const shown = await proxy.ask("DescribeLoadBalancers", {}, "2012-06-01", elb);
    expect(allOf(shown, "InstanceId")).toContain(cid);
    expect(proxy.calls).toContain("elasticloadbalancing:RegisterTargets");
    await cpi.call("delete_vm", [cid]);
    const before = await alive();
    const refused = await cpi.refusal(
      "create_vm",
      cpi.vm({ a: cpi.network(address()) }, { lb_target_groups: ["none"] }),
    );
    expect(refused.message).toMatch(/AWS-021.*target group 'none'/);
    expect(await alive()).toBe(before);
  });

  it("advertises routes and lets a VM forward packets", async () => {
    const table = allOf(await cpi.show("CreateRouteTable", { VpcId: site().vpc }), "routeTableId")[0] ?? "";
    const routing = {
      advertised_routes: [{ table_id: table, destination: "10.9.0.0/16" }],
      source_dest_check: false,
    };
    for (const _ of ["created", "replaced"]) {
      const cid = await cpi.create({ a: cpi.network(address()) }, routing);
      const [own] = allOf(await instance(cid), "networkInterfaceId");
      const shown = await cpi.show("DescribeRouteTables", { "RouteTableId.1": table });
      expect(allOf(shown, "networkInterfaceId")).toContain(own);
      await cpi.call("delete_vm", [cid]);
    }
  });

  it("returns the console output without the credentials of the settings", async () => {
    const cid = await cpi.create({ a: cpi.network(address()) });
    const log = await cpi.call<string>("get_vm_log", [cid]);
    expect(log).toContain("Kernel command line");
    expect(log).not.toContain("s3cret");
    expect((await cpi.refusal("get_vm_log", ["i-0123456789abcdef0"])).type).toBe("Bosh::Clouds::VMNotFound");
    await cpi.call("delete_vm", [cid]);
  });

  it("starts a VM that was stopped outside when it is rebooted", async () => {
    const cid = await cpi.create({ a: cpi.network(address()) });
    await cpi.show("StopInstances", { "InstanceId.1": cid });
    expect(await cpi.call("has_vm", [cid])).toBe(true);
    await cpi.call("reboot_vm", [cid]);
    expect(allOf(await instance(cid), "name")).toContain("running");
    await cpi.call("delete_vm", [cid]);
  });

  it("leads old stemcells to the registry, and tells it of disks", async () => {
    const registry = await liveRegistry();
    const asked = { registry: registry.section, stemcell: 1 };
    const [cid] = await cpi.call<[string]>("create_vm", cpi.vm({ a: cpi.network(address()) }), asked);
    expect(await userDataOf(cid)).toMatchObject({
      registry: { endpoint: expect.stringContaining("@127.0.0.1:") as unknown },
    });
    expect((await registry.entry(cid))?.agent_id).toBe("agent-1");
    const disk = await cpi.call<string>("create_disk", [1024, {}, cid]);
    const hint = await cpi.call("attach_disk", [cid, disk], asked);
    expect((await registry.entry(cid))?.disks.persistent).toEqual({ [disk]: hint });
    await cpi.call("delete_vm", [cid], asked);
    expect(await registry.entry(cid)).toBeUndefined();
    await cpi.call("delete_disk", [disk]);
  });
});
