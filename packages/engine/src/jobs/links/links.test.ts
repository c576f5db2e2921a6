import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import { describe, expect, it } from "vitest";
import { group, manifest } from "../../plan/testing/builders.ts";
import { jobsError } from "../errors.ts";
import { instance, job, knownJob, plannedJobs, refusedJobs, release, releases } from "../testing/builders.ts";
import { linkOf, noProvider, report, sketch, texts, WEB } from "../testing/links.ts";

describe("a link", () => {
  it("tells templates the instances, the exported properties and where they come from", () => {
    expect(linkOf({ properties: { user: "me", secret: "s" } })).toEqual({
      deployment_name: "shop",
      domain: "bosh",
      default_network: "private",
      instance_group: "db",
      group_name: "db-sql",
      properties: { port: 5432, user: "me" },
      use_short_dns_addresses: false,
      use_link_dns_names: false,
      instances: [{ name: "db", id: "db-0", index: 0, bootstrap: true, az: "z1", address: "10.0.0.5" }],
      group_id: "",
      network_id: null,
      az_ids: {},
    });
  });

  it("is found by its type alone where the manifest says nothing of it", () =>
    expect(linkOf({ provides: { db: { as: "primary" } } })).toMatchObject({ instance_group: "db" }));

  it("is found by its name once the manifest mentions it, even by an empty map", () => {
    expect(linkOf({ consumes: { db: {} } })).toMatchObject({ instance_group: "db" });
    expect(report({ consumes: { db: {} }, provides: { db: { as: "primary" } } })).toBe(noProvider());
  });

  it("is found by `from`, of which the last part counts", () => {
    const provides = { db: { as: "primary" } };
    expect(linkOf({ provides, consumes: { db: { from: "primary" } } })).toMatchObject({
      group_name: "primary-sql",
    });
    expect(linkOf({ provides, consumes: { db: { from: "shop.postgres.primary" } } })).toBeDefined();
    expect(report({ provides, consumes: { db: { from: "other" } } })).toBe(noProvider("alias 'other' and "));
  });

  it("rejects a link that several jobs provide, and lists them", () => {
    expect(report({ providers: ["db", "db2"], provides: { db: { as: "main" } } })).toBe(
      [
        "Failed to resolve links from deployment 'shop'. See errors below:",
        "  - Failed to resolve link 'db' with type 'sql' from job 'web' in instance group 'web'. Multiple link providers found:",
        "    - Link provider 'db' with alias 'main' from job 'postgres' in instance group 'db' in deployment 'shop'",
        "    - Link provider 'db' with alias 'main' from job 'postgres' in instance group 'db2' in deployment 'shop'",
      ].join("\n"),
    );
  });

  it("reports every link that cannot be resolved", () => {
    const given = sketch({ providers: [] });
    const two = {
      ...given,
      manifest: manifest(["a", "b"].map((name) => group(name, 1, { jobs: [job("web")] }))),
    };
    const refused = refusedJobs(two);
    expect(refused.problems.map(({ where }) => where)).toEqual([
      "instance_groups[a].jobs[web].consumes.db",
      "instance_groups[b].jobs[web].consumes.db",
    ]);
    expect(jobsError(refused).message.split("\n")).toHaveLength(5);
  });

  it("does not use a provider that is `nil` in the manifest", () =>
    expect(report({ provides: { db: "nil" } })).toBe(noProvider()));

  it("omits a link that the manifest blocks by `nil`, and rejects that for a required link", () => {
    expect(linkOf({ consumer: "maybe", consumes: { db: "nil" } })).toBeUndefined();
    expect(report({ consumes: { db: "nil" } })).toBe(noProvider());
  });

  it("lets an optional link lack a provider, unless the manifest mentions the link", () => {
    expect(linkOf({ consumer: "maybe", providers: [] })).toBeUndefined();
    expect(linkOf({ consumer: "maybe" })).toBeDefined();
    expect(texts({ consumer: "maybe", providers: [], consumes: { db: {} } })).toHaveLength(1);
  });

  it("has no instances if its provider has none", () =>
    expect(linkOf({ instances: [instance("web", 0)] })).toMatchObject({ instances: [] }));

  it("lists the bootstrap instance first, then its zone, then those without, then the other zones by name", () => {
    const at = (index: number, az: string | null) => instance("db", index, { az, bootstrap: index === 3 });
    const instances = [at(0, "z3"), at(1, "z2"), at(2, "z1"), at(3, "z2"), at(4, null), instance("web", 0)];
    const listed = (linkOf({ instances })?.instances ?? []) as readonly JsonObject[];
    expect(listed.map(({ id }) => id)).toEqual(["db-3", "db-1", "db-4", "db-2", "db-0"]);
  });
});

describe("a manual link", () => {
  const written = { instances: [{ address: "db.example" }], properties: { port: 1 }, address: "db.example" };

  it("is passed on as it is written", () =>
    expect(linkOf({ providers: [], consumes: { db: written } })).toMatchObject({
      ...written,
      deployment_name: "shop",
    }));

  it("is kept as a provider of its own for its consumer", () => {
    const planned = plannedJobs(sketch({ providers: [], consumes: { db: written } }));
    expect(planned.linkProviders).toMatchObject([{ kind: "manual", group: "web", job: "web", name: "db" }]);
    expect(planned.links).toMatchObject([{ name: "db", provider: { kind: "manual" } }]);
  });
});

describe("a named disk", () => {
  const STORE = knownJob("store", { consumes: [{ name: "place", type: "disk" }] });
  const given = (consumes: JsonObject, ...names: readonly string[]) => ({
    releases: releases(release("demo", STORE)),
    instances: [instance("db", 0)],
    manifest: manifest([
      group("db", 1, {
        jobs: [job("store", { consumes })],
        persistentDisks: names.map((name) => ({ name, type: "d1" })),
      }),
    ]),
  });

  it("is a link that tells its name", () => {
    const planned = plannedJobs(given({}, "data"));
    expect(planned.linkProviders).toMatchObject([{ kind: "disk", group: "db", name: "data", type: "disk" }]);
    const [found] = planned.instances.get(instance("db", 0).uuid) ?? [];
    expect((found?.context.links as Record<string, JsonObject> | undefined)?.place).toMatchObject({
      deployment_name: "shop",
      properties: { name: "data" },
      instances: [],
    });
  });

  it("is found by its name among several", () => {
    const planned = plannedJobs(given({ place: { from: "wal" } }, "data", "wal"));
    expect(planned.links).toMatchObject([{ name: "place", provider: { kind: "disk", name: "wal" } }]);
    expect(refusedJobs(given({}, "data", "wal")).problems[0]?.problem).toContain(
      "Multiple link providers found",
    );
  });
});

describe("what a manifest says of a link", () => {
  const place = "in job 'web' in instance group 'web'";
  const cases: readonly (readonly [Json, string])[] = [
    [null, `Consumer 'db' ${place} specified in the manifest should only be a hash or string 'nil'`],
    [{ instances: [], from: "x" }, `Cannot specify both 'instances' and 'from' keys for link 'db' ${place}.`],
    [{ properties: {} }, `Cannot specify 'properties' without 'instances' for link 'db' ${place}.`],
    [
      { ip_addresses: "yes" },
      `Cannot specify non boolean values for 'ip_addresses' field for link 'db' ${place}.`,
    ],
    [
      { type: "sql" },
      `Cannot specify 'name' or 'type' properties in the manifest for link 'db' ${place}. Please provide these keys in the release only.`,
    ],
    [{ from: 7 }, "expected a string"],
    [
      { deployment: "gone" },
      "Link 'db' in job 'web' from instance group 'web' consumes from deployment 'gone', but the deployment does not exist.",
    ],
  ];
  it.each(cases)("is refused in upstream's words: %j", (wanted, text) =>
    expect(texts({ consumes: { db: wanted } })).toEqual([text]),
  );

  it("is rejected in upstream's words if it is about the provider", () => {
    const of = "in job 'postgres' in instance group 'db'";
    expect(texts({ provides: { db: 7 } })).toEqual([
      `Provider 'db' ${of} specified in the manifest should only be a hash or string 'nil'`,
    ]);
    expect(texts({ provides: { db: { name: "x" } } })).toEqual([
      `Cannot specify 'name' or 'type' properties in the manifest for link 'db' ${of}. Please provide these keys in the release only.`,
    ]);
  });

  it.each([
    [{ as: 7 }, "expected a string of at most 255 characters"],
    [{ as: "x".repeat(256) }, "expected a string of at most 255 characters"],
    [{ shared: "false" }, "expected true or false"],
    [{ aliases: "web.internal" }, "expected a list of maps"],
    [{ aliases: [{ name: "web.internal" }] }, "expected a list of maps"],
  ])("is rejected if a key of the provider has the wrong type: %j", (db, text) =>
    expect(texts({ provides: { db } })).toEqual([text]),
  );

  it("is only noted if the release does not know the link", () => {
    const { notes } = plannedJobs(sketch({ consumes: { db: {}, more: {} }, provides: { other: {} } }));
    expect(notes).toEqual([
      "Job 'postgres' does not define link provider 'other' in the release spec",
      "Job 'web' does not define link consumer 'more' in the release spec",
    ]);
  });
});

describe("exported properties", () => {
  const BAD = knownJob("postgres", { provides: [{ name: "db", type: "sql", properties: ["port"] }] });

  it("are rejected if neither the manifest sets nor the release declares them", () => {
    const given = { ...sketch(), releases: releases(release("demo", BAD, WEB)) };
    expect(refusedJobs(given).problems.map(({ problem }) => problem)).toEqual([
      "Link property port in template postgres is not defined in release spec",
    ]);
  });

  it("need no declaration if the manifest sets them", () => {
    const given = { ...sketch({ properties: { port: 1 } }), releases: releases(release("demo", BAD, WEB)) };
    expect(plannedJobs(given).linkProviders).toMatchObject([{ properties: { port: 1 } }]);
  });
});

describe("custom providers", () => {
  const custom = (more: JsonObject = {}) => ({ name: "side", type: "sql", properties: ["secret"], ...more });

  it("provide links as providers of the release do", () => {
    const given = {
      customProviders: [custom()],
      properties: { secret: "s" },
      consumes: { db: { from: "side" } },
    };
    expect(linkOf(given)).toMatchObject({ group_name: "side-sql", properties: { secret: "s" } });
  });

  it("are refused all at once for what is wrong with them", () => {
    const of = "in job 'postgres' in instance group 'db'";
    expect(
      texts({ customProviders: [custom(), custom(), custom({ name: "db" }), custom({ name: "", type: 1 })] }),
    ).toEqual([
      `Custom provider 'db' ${of} is already defined in release 'demo'`,
      `Name for custom link provider definition in manifest ${of} must be a valid non-empty string.`,
      `Type for custom link provider definition in manifest ${of} must be a valid non-empty string.`,
      `Custom provider 'side' ${of} is defined multiple times in manifest.`,
    ]);
  });
});
