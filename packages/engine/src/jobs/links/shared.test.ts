import type { JsonObject } from "@slipway/protocol/schema/json";
import { describe, expect, it } from "vitest";
import { on } from "../../plan/testing/builders.ts";
import { jobsError } from "../errors.ts";
import type { JobsInput } from "../model.ts";
import { instance, plannedJobs, refusedJobs } from "../testing/builders.ts";
import { linkOf, noProvider, report, type Sketch, sketch } from "../testing/links.ts";
import { consumedDeployments } from "./consumers.ts";
import { dnsGroups } from "./plan-links.ts";

describe("networks of a link", () => {
  const networks = {
    private: { type: "manual" as const, ip: "10.0.0.5", default: ["dns", "gateway"] },
    back: { type: "manual" as const, ip: "10.1.0.5" },
  };
  const input = (consumes: JsonObject): Omit<JobsInput, "director"> => {
    const given = sketch({ consumes, instances: [instance("db", 0, { networks }), instance("web", 0)] });
    const [db, ...rest] = given.manifest.groups;
    if (db === undefined) throw new Error("no group");
    const both = { ...db, networks: [on("private"), { name: "back", staticIps: [], default: [] }] };
    return { ...given, manifest: { ...given.manifest, groups: [both, ...rest] } };
  };

  it("are the provider's default, unless the consumer names another", () => {
    const addressOf = (consumes: JsonObject) =>
      plannedJobs(input(consumes)).links.flatMap(({ content }) =>
        (content.instances as readonly JsonObject[]).map(({ address }) => address),
      );
    expect(addressOf({})).toEqual(["10.0.0.5"]);
    expect(addressOf({ db: { network: "back" } })).toEqual(["10.1.0.5"]);
  });

  it("rejects a network that the provider does not have, and names it", () =>
    expect(jobsError(refusedJobs(input({ db: { network: "front" } }))).message).toContain(
      "    - Link provider 'db' from job 'postgres' in instance group 'db' in deployment 'shop' does not belong to network 'front'",
    ));
});

describe("links across deployments", () => {
  const provided = (given: Sketch = {}) => {
    const input = sketch({ provides: { db: { shared: true } }, ...given });
    const data = { ...input, manifest: { ...input.manifest, name: "data" } };
    return plannedJobs(data).linkProviders;
  };
  const shared = (given: Sketch = {}): NonNullable<JobsInput["sharedProviders"]> =>
    new Map([
      [
        "data",
        provided(given).flatMap((one) => (one.content === null ? [] : [{ ...one, content: one.content }])),
      ],
    ]);
  const consumes = { db: { deployment: "data" } };

  it("get the content that the other deployment last stored for its shared provider", () =>
    expect(linkOf({ providers: [], consumes, sharedProviders: shared() })).toMatchObject({
      deployment_name: "data",
      instances: [{ id: "db-0" }],
    }));

  it("need a provider that is shared", () =>
    expect(report({ providers: [], consumes, sharedProviders: shared({ provides: {} }) })).toBe(
      noProvider(),
    ));

  it("are named before they are planned, so that the Director can look them up", () => {
    const input = sketch({ consumes: { db: { deployment: "data" }, x: { deployment: "shop" }, y: "nil" } });
    expect(consumedDeployments(input.manifest)).toEqual(["data"]);
  });

  it("are kept with content for shared providers and for those that are consumed, no others", () => {
    const contentOf = (given: Sketch) => provided(given).map(({ content }) => content !== null);
    expect(contentOf({ consumer: "maybe", consumes: { db: "nil" } })).toEqual([true]);
    expect(contentOf({ consumer: "maybe", consumes: { db: "nil" }, provides: {} })).toEqual([false]);
    expect(contentOf({ provides: {} })).toEqual([true]);
  });
});

it("the groups of a deployment that need a number in DNS are its instance groups and its links", () =>
  expect(dnsGroups(sketch({ provides: { db: { as: "main" } } }))).toEqual([
    { type: "instance-group", name: "db", deployment: "shop" },
    { type: "instance-group", name: "web", deployment: "shop" },
    { type: "link", name: "main-sql", deployment: "shop" },
  ]));
