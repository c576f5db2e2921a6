import { awsSite, hasMoto } from "@slipway/testkit/aws-cloud";
import { bundled } from "@slipway/testkit/bundle";
import { startCpi, writeConfig } from "@slipway/testkit/executable";
import { rounds, sampleOf } from "@slipway/testkit/sample";
import { allOf } from "@slipway/testkit/strict-aws-rules";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AwsCpi, DIRECTOR } from "./testing/aws-cpi.ts";

/** More actions than any method takes. */
const MOST_ACTIONS = 40;
const POINTS = rounds({ sample: 2, all: MOST_ACTIONS });

interface Flow {
  readonly method: string;
  readonly about: string;
  /** Makes what the method needs, and returns its arguments. */
  readonly begin: (cpi: AwsCpi) => Promise<readonly unknown[]>;
  /** Takes back what the repeated call has made or was given. */
  readonly end: (cpi: AwsCpi, result: unknown, args: readonly unknown[]) => Promise<void>;
}

describe.runIf(hasMoto())("the AWS CPI, killed after each action:", () => {
  const site = awsSite();
  const cpi = new AwsCpi(site);
  const program = bundled("./main.ts", import.meta.url);
  let config: string;
  let remove = () => Promise.resolve();
  let last = 10;
  let address: string;
  let table: string;
  beforeAll(async () => {
    const { path, remove: removeIt } = await temporaryDirectory();
    remove = removeIt;
    config = await writeConfig(path, { aws: site().config });
    address = allOf(await cpi.show("AllocateAddress", { Domain: "vpc" }), "publicIp")[0] ?? "";
    table = allOf(await cpi.show("CreateRouteTable", { VpcId: site().vpc }), "routeTableId")[0] ?? "";
  });
  afterAll(() => remove());

  const ip = () => `10.0.1.${(++last % 200) + 10}`;
  const deleteVm = (_: AwsCpi, result: unknown) => cpi.call<void>("delete_vm", [(result as [string])[0]]);
  const attached = async () => {
    const vm = await cpi.create({ a: cpi.network(ip()) });
    const disk = await cpi.call<string>("create_disk", [1024, {}, vm]);
    return [vm, disk] as const;
  };
  const drop = async (_: AwsCpi, __: unknown, [vm, disk]: readonly unknown[]) => {
    await cpi.call("delete_vm", [vm]);
    await cpi.call("delete_disk", [disk]);
  };
  const flows: readonly Flow[] = [
    {
      ...{ method: "create_vm", about: "with one interface" },
      begin: async () => cpi.vm({ a: cpi.network(ip()) }),
      end: deleteVm,
    },
    {
      ...{ method: "create_vm", about: "with two interfaces, an elastic address and a route" },
      begin: async () => {
        const routing = { advertised_routes: [{ table_id: table, destination: "10.8.0.0/16" }] };
        const networks = { a: cpi.network(ip()), b: cpi.network(ip()), public: { type: "vip", ip: address } };
        return cpi.vm(networks, { ...routing, source_dest_check: false });
      },
      end: deleteVm,
    },
    {
      ...{ method: "delete_vm", about: "with two interfaces" },
      begin: async () => [await cpi.create({ a: cpi.network(ip()), b: cpi.network(ip()) })],
      end: async () => undefined,
    },
    {
      ...{ method: "create_disk", about: "for no VM" },
      begin: async () => [1024, {}, null],
      end: async (_, result) => cpi.call("delete_disk", [result]),
    },
    { ...{ method: "attach_disk", about: "to a VM" }, begin: attached, end: drop },
    {
      ...{ method: "detach_disk", about: "from a VM" },
      begin: async () => {
        const [vm, disk] = await attached();
        await cpi.call("attach_disk", [vm, disk]);
        return [vm, disk];
      },
      end: drop,
    },
    {
      ...{ method: "delete_disk", about: "that is free" },
      begin: async () => [await cpi.call("create_disk", [1024, {}, null])],
      end: async () => undefined,
    },
    {
      ...{ method: "update_disk", about: "of another size and type" },
      begin: async () => [await cpi.call("create_disk", [1024, {}, null]), 3000, { type: "gp2" }],
      end: async (_, __, [disk]) => cpi.call("delete_disk", [disk]),
    },
    {
      ...{ method: "snapshot_disk", about: "of a free disk" },
      begin: async () => [await cpi.call("create_disk", [1024, {}, null]), { deployment: "shop" }],
      end: async (_, result, [disk]) => {
        await cpi.call("delete_snapshot", [result]);
        await cpi.call("delete_disk", [disk]);
      },
    },
    {
      ...{ method: "create_stemcell", about: "that is copied" },
      begin: async () => ["/none", { ami: { "us-east-1": site().image }, encrypted: true }],
      end: async (_, result) => cpi.call("delete_stemcell", [result]),
    },
  ];

  /** Everything that costs money or takes an address. */
  const world = async () => {
    const owned = { "Owner.1": "self" };
    const running = { "Filter.1.Name": "instance-state-name", "Filter.1.Value.1": "running" };
    return {
      instances: allOf(await cpi.show("DescribeInstances", running), "instanceId").length,
      interfaces: allOf(await cpi.show("DescribeNetworkInterfaces", {}), "networkInterfaceId").length,
      volumes: allOf(await cpi.show("DescribeVolumes", {}), "size").length,
      snapshots: allOf(await cpi.show("DescribeSnapshots", owned), "snapshotId").length,
      images: allOf(await cpi.show("DescribeImages", owned), "imageId").length,
    };
  };

  /** Runs a call as a process of its own, killed once it has made this many actions. Returns whether it was. */
  const killed = async (method: string, args: readonly unknown[], requestId: string, after: number) => {
    const context = { director_uuid: DIRECTOR, request_id: requestId, vm: { stemcell: { api_version: 2 } } };
    const request = JSON.stringify({ method, arguments: args, context, api_version: 2 });
    let actions = 0;
    let over = false;
    const { child, ended } = startCpi(program(), request, { args: ["--configFile", config] });
    site().proxy.executed = () => {
      actions += 1;
      if (actions === after) over = child.kill("SIGKILL");
    };
    await ended;
    site().proxy.calm();
    return over;
  };

  // Of every method that changes something. The tests of `npm test` take some of the points.
  describe.each(flows)("$method $about", ({ method, begin, end }) => {
    it("leaves nothing that the repeated call does not find", { timeout: 600_000 }, async () => {
      const points = Array.from({ length: MOST_ACTIONS }, (_, at) => at + 1);
      const first = sampleOf(`aws ${method}`, points.slice(0, 6), POINTS);
      const before = await world();
      for (const after of POINTS === MOST_ACTIONS ? points : first) {
        const args = await begin(cpi);
        const requestId = `killed-${method}-${after}-${++last}`;
        const wasKilled = await killed(method, args, requestId, after);
        const { error, result } = await cpi.reply(method, args, { requestId });
        // What was done before the kill is not there to be done again.
        const done = /NotFound|NotAttached/.test(error?.type ?? "") && /delete|detach/.test(method);
        expect(done ? null : error, `${method} after ${after} actions`).toBeNull();
        await end(cpi, result, args);
        expect(await world(), `${method} after ${after} actions`).toEqual(before);
        if (!wasKilled) return;
      }
    });
  });
});
