import type { JsonObject } from "@slipway/protocol/schema/json";
import { describe, expect, it } from "vitest";
import type { InstanceGroup, Manifest } from "../manifest/model.ts";
import type { DesiredInstance } from "../model/goal.ts";
import { group, manifest } from "../plan/testing/builders.ts";
import {
  instance,
  job,
  knownJob,
  MANUAL,
  plannedJobs,
  refusedJobs,
  release,
  releases,
} from "./testing/builders.ts";

const APP = knownJob("app", {
  properties: { "db.host": {}, "db.port": { default: 5432 }, debug: { default: true } },
  logs: { all: "*.log" },
});

const input = (
  given: Partial<InstanceGroup> = {},
  instances: readonly DesiredInstance[] = [instance("web", 0)],
  rest: Partial<Manifest> = {},
) => ({
  manifest: manifest([group("web", 1, { jobs: [job("app")], ...given })], rest),
  releases: releases(release("demo", APP, knownJob("other"))),
  instances,
});

const contextOf = (...given: Parameters<typeof input>): JsonObject => {
  const [first] = [...plannedJobs(input(...given)).instances.values()].flat();
  return first?.context ?? {};
};

describe("a planned job", () => {
  it("gets the context of its instance that templates of a Director see", () => {
    expect(contextOf()).toEqual({
      deployment: "shop",
      name: "web",
      job: {
        name: "web",
        template: "app",
        version: "app-v",
        templates: [
          {
            name: "app",
            version: "app-v",
            sha1: "sha256:app",
            blobstore_id: "app-blob",
            logs: { all: "*.log" },
          },
        ],
      },
      index: 0,
      bootstrap: true,
      id: "web-0",
      az: "z1",
      networks: { private: { ...MANUAL.private, dns_record_name: "0.web.private.shop.bosh" } },
      ip: "10.0.0.5",
      address: "10.0.0.5",
      dns_domain_name: "bosh",
      persistent_disk: 0,
      properties_need_filtering: true,
      properties: { db: { host: null, port: 5432 }, debug: true },
      links: {},
      release: { name: "demo", version: "1.0" },
    });
  });

  it("sees only properties it declares, and false is a value", () => {
    const jobs = [job("app", { properties: { db: { host: "h", secret: "x" }, debug: false, more: 1 } })];
    expect(contextOf({ jobs }).properties).toEqual({ db: { host: "h", port: 5432 }, debug: false });
  });

  it("without properties of its own sees those of the deployment with the group's laid over", () => {
    const shared = { properties: { db: { port: 1 } } };
    const global = { properties: { db: { host: "h", port: 2 } } };
    expect(contextOf(shared, undefined, global).properties).toMatchObject({ db: { host: "h", port: 1 } });
  });

  it("ignores the properties of the group and of the deployment if its own map is empty", () => {
    const given = { jobs: [job("app", { properties: {} })], properties: { db: { host: "h" } } };
    expect(contextOf(given, undefined, { properties: { debug: false } }).properties).toEqual({
      db: { host: null, port: 5432 },
      debug: true,
    });
  });

  it("gets the size of its disk", () => {
    const persistentDisk = { size: 1024, cloudProperties: {} };
    expect(contextOf({}, [instance("web", 0, { persistentDisk })]).persistent_disk).toBe(1024);
    const namedDisks = [{ name: "data", ...persistentDisk }];
    expect(contextOf({}, [instance("web", 0, { namedDisks })])).not.toHaveProperty("persistent_disk");
  });

  it("keeps the order of its group, and all jobs of an instance are there", () => {
    const planned = plannedJobs(input({ jobs: [job("other"), job("app")] }));
    expect([...planned.instances.values()].map((jobs) => jobs.map((one) => one.job.name))).toEqual([
      ["other", "app"],
    ]);
  });

  it("is planned the same for one instance alone as among all, without the others", () => {
    const two = input({}, [instance("web", 0), instance("web", 1)]);
    const [, second] = two.instances;
    const uuid = second?.uuid;
    if (uuid === undefined) throw new Error("unreachable: there are two");
    const alone = plannedJobs({ ...two, only: uuid }).instances;
    expect([...alone.keys()]).toEqual([uuid]);
    expect(alone.get(uuid)).toEqual(plannedJobs(two).instances.get(uuid));
  });
});

describe("addresses in a context", () => {
  const two = {
    front: { type: "manual" as const, ip: "10.1.0.5", default: ["dns", "gateway"] },
    back: { type: "manual" as const, ip: "10.2.0.5", default: ["addressable"] },
  };

  it("are those of the addressable network, wherever the gateway is", () => {
    expect(contextOf({}, [instance("web", 0, { networks: two })])).toMatchObject({
      ip: "10.2.0.5",
      address: "10.2.0.5",
    });
  });

  it("reads 127.0.0.1 for an unknown address of a dynamic network, and a name as the address", () => {
    const networks = { net_1: { type: "dynamic" as const, default: ["dns", "gateway"] } };
    expect(contextOf({}, [instance("web", 0, { networks })])).toMatchObject({
      networks: {
        net_1: {
          ip: "127.0.0.1",
          netmask: "127.0.0.1",
          gateway: "127.0.0.1",
          dns_record_name: "0.web.net-1.shop.bosh",
        },
      },
      ip: null,
      address: "web-0.web.net-1.shop.bosh",
    });
  });

  it("reads the address of a dynamic network once it is known", () => {
    const networks = { net: { type: "dynamic" as const, ip: "10.9.0.9", default: ["dns", "gateway"] } };
    expect(contextOf({}, [instance("web", 0, { networks })])).toMatchObject({
      networks: { net: { ip: "10.9.0.9", netmask: "127.0.0.1" } },
      ip: "10.9.0.9",
    });
  });
});

describe("jobs that cannot be planned", () => {
  it("are all named at once, by upstream's words and numbers", () => {
    const given = {
      ...input({
        jobs: [job("ap"), job("app", { properties: { db: "text" } }), job("x", { release: "gone" })],
      }),
    };
    expect(refusedJobs(given).problems).toMatchObject([
      {
        code: 140029,
        where: "instance_groups[web].jobs[ap]",
        problem: "Job 'ap' not found in release 'demo'",
      },
      {
        where: "instance_groups[web].jobs[app].properties",
        problem: "Property 'db.host' expects a hash, but received 'String'",
      },
      { code: 30005, problem: "Release 'gone' doesn't exist" },
    ]);
  });

  it("are found in groups without instances too", () => {
    const { problems } = refusedJobs(input({ jobs: [job("gone")] }, []));
    expect(problems).toHaveLength(1);
  });
});
