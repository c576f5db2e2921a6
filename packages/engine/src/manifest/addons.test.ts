import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { parseYaml } from "../documents/yaml.ts";
import type { StemcellRecord } from "../model/records.ts";
import { chooseRelease } from "../releases/choose-release.ts";
import { checkDeploy } from "./deploy-problems.ts";
import type { Manifest } from "./model.ts";
import { CLOUD, SHOP } from "./testing/documents.ts";

const stemcell = {
  id: 1,
  name: "noble",
  version: "1.5",
  operatingSystem: "ubuntu-noble",
  cpi: "",
  cid: "sc",
} as unknown as StemcellRecord;

const RELEASES = "releases: [{name: dns, version: '1.2'}, {name: unused, version: '3'}]";
const JOBS = "jobs: [{name: bosh-dns, release: dns, properties: {a: 1}}]";
const addon = (rules = "", jobs = JOBS) => `${RELEASES}\naddons: [{name: dns, ${jobs}${rules}}]`;
const replace = (path: string, value: unknown) => ({ type: "replace", path, value });

function check(runtime: readonly string[], ops: readonly object[] = [], teams: readonly string[] = []) {
  return checkDeploy({
    manifest: applyOps(parseYaml(SHOP, "m"), ops, "test"),
    cloudConfigs: [parseYaml(CLOUD, "c")],
    runtimeConfigs: runtime.map((text) => parseYaml(text, "r")),
    stemcells: [stemcell],
    teams,
  });
}

function applied(...given: Parameters<typeof check>): Manifest {
  const checked = check(...given);
  if (!checked.ok) throw new Error(checked.problems.map(({ problem }) => problem).join("\n"));
  return checked.manifest;
}

const problems = (...given: Parameters<typeof check>) => {
  const checked = check(...given);
  return checked.ok ? [] : checked.problems;
};

/** The groups that have the job. */
const groupsWith = (job: string, manifest: Manifest) =>
  manifest.groups.filter(({ jobs }) => jobs.some(({ name }) => name === job)).map(({ name }) => name);

describe("an addon of a runtime config", () => {
  it.each([
    ["", ["web", "db"]],
    [", include: {deployments: [shop]}", ["web", "db"]],
    [", include: {deployments: [shop], instance_groups: [db]}", ["db"]],
    [", include: {networks: [outside]}", ["web"]],
    [", include: {azs: [z2]}", ["web"]],
    [", include: {lifecycle: service}", ["web", "db"]],
    [", include: {stemcell: [{os: ubuntu-noble}]}", ["web", "db"]],
    [", include: {teams: [a, b]}", ["web", "db"]],
    [", include: {}, exclude: {}", ["web", "db"]],
    [", exclude: {deployments: [other]}", ["web", "db"]],
    [", exclude: {instance_groups: [web]}", ["db"]],
    [", exclude: {instance_groups: [web], azs: [z9]}", ["web", "db"]],
    [", exclude: {lifecycle: service}", []],
    [", exclude: {teams: [b]}", []],
    [", include: {instance_groups: [web, db]}, exclude: {azs: [z2]}", ["db"]],
    [", include: {deployments: [other]}", []],
    [", include: {jobs: [{name: x, release: y}]}", []],
    [", include: {lifecycle: errand}", []],
    [", include: {stemcell: [{os: windows}]}", []],
    [", include: {teams: [c]}", []],
    [", exclude: {deployments: [shop]}", []],
  ])("is for the groups that its rules choose: {%s}", (rules, groups) =>
    expect(groupsWith("bosh-dns", applied([addon(rules)], [], ["b"]))).toEqual(groups),
  );

  it("adds its jobs with their own properties, after those of the group, and the releases it needs", () => {
    const manifest = applied([addon()]);
    expect(manifest.groups[0]?.jobs).toEqual([
      {
        name: "bosh-dns",
        release: "dns",
        properties: { a: 1 },
        consumes: {},
        provides: {},
        customProviders: [],
      },
    ]);
    expect(manifest.releases).toEqual([{ name: "dns", version: "1.2" }]);
  });

  it("adds no release if it is for no group", () =>
    expect(applied([addon(", include: {deployments: [other]}")]).releases).toEqual([]));

  it("gives its own properties to jobs that have none, never those of the group", () => {
    const jobs =
      "properties: {b: 2}, jobs: [{name: one, release: dns}, {name: two, release: dns, properties: {}}]";
    const group = [replace("/instance_groups/name=web/properties?", { c: 3 })];
    const [web] = applied([addon("", jobs)], group).groups;
    expect(web?.jobs.map(({ properties }) => properties)).toEqual([{ b: 2 }, {}]);
  });

  it("may choose groups by jobs that an addon before it has added", () => {
    const second =
      "{name: more, jobs: [{name: extra, release: dns}], include: {jobs: [{name: bosh-dns, release: dns}]}}";
    const first = "{name: dns, jobs: [{name: bosh-dns, release: dns}], include: {instance_groups: [db]}}";
    const manifest = applied([`${RELEASES}\naddons: [${first}, ${second}]`]);
    expect(groupsWith("extra", manifest)).toEqual(["db"]);
  });

  it("is chosen by the system of a stemcell that the manifest gives by name", () => {
    const byName = [replace("/stemcells/0", { alias: "default", name: "noble", version: "1.5" })];
    const rules = ", include: {stemcell: [{os: ubuntu-noble}]}";
    expect(groupsWith("bosh-dns", applied([addon(rules)], byName))).toEqual(["web", "db"]);
  });

  it("must not add a job that a group has already", () => {
    const found = problems([addon(), addon(", include: {instance_groups: [web]}")]);
    expect(found).toMatchObject([
      {
        where: "instance_groups[web].jobs[bosh-dns]",
        problem: "Colocated job 'bosh-dns' is already added to the instance group 'web'",
      },
    ]);
  });

  it.each([
    ["addons: 7", "runtime config.addons", 40000],
    ["addons: [{jobs: []}]", "runtime config addons[0].name", 40001],
    [
      "addons: [{name: a, jobs: [{name: j, release: r}]}]",
      "runtime config addons[a].jobs[j].release",
      530002,
    ],
    ["addons: [{name: a, include: {jobs: [{name: j}]}}]", "runtime config addons[a].include.jobs[j]", 530004],
    [
      "addons: [{name: a, exclude: {stemcell: [{}]}}]",
      "runtime config addons[a].exclude.stemcell[0]",
      530005,
    ],
    [
      "addons: [{name: a, include: {lifecycle: [errand]}}]",
      "runtime config addons[a].include.lifecycle",
      40000,
    ],
    ["releases: [{name: r, version: latest}]", "runtime config releases[r].version", 530001],
    ["releases: [{name: r, version: 1.latest}]", "runtime config releases[r].version", 530001],
    ["variables: 1", "runtime config.variables", 40000],
  ])("is refused at its place, with upstream's number: %s", (text, where, code) =>
    expect(problems([text])).toMatchObject([{ where, code }]),
  );
});

describe("a release of a runtime config", () => {
  const release = (version: string) => [replace("/releases", [{ name: "dns", version }])];

  it("must be of the version that the manifest says", () => {
    expect(applied([addon()], release("1.2")).releases).toEqual([{ name: "dns", version: "1.2" }]);
    expect(problems([addon()], release("1.3"))).toMatchObject([
      {
        code: 530003,
        problem:
          "Runtime manifest specifies release 'dns' with version as '1.2'. This conflicts with version '1.3' specified in the deployment manifest.",
      },
    ]);
  });

  it("may have another version if none of its addons is for the deployment", () =>
    expect(problems([addon(", include: {deployments: [other]}")], release("1.3"))).toEqual([]));

  it("must be what `latest` of the manifest stands for, once that is known", () => {
    const [wanted] = applied([addon()], release("latest")).releases;
    if (wanted === undefined) throw new Error("no release");
    expect(chooseRelease(wanted, ["1.1", "1.2"])).toEqual({ name: "dns", version: "1.2" });
    expect(chooseRelease(wanted, ["1.2", "1.3"])).toMatchObject({ code: 530003 });
  });

  it("must be the same in two runtime configs", () => {
    const other = addon("", "jobs: [{name: more, release: dns}]").replace("1.2", "1.4");
    expect(problems([addon(), other])).toMatchObject([{ code: 530003 }]);
  });
});

describe("tags of runtime configs", () => {
  it("stand under those of the manifest", () =>
    expect(applied(["tags: {team: ops, zone: a}"]).tags).toEqual({ team: "sales", zone: "a" }));

  it("may be in one runtime config only", () =>
    expect(problems(["tags: {a: 1}", "tags: {b: 1}"])).toMatchObject([
      { code: 530006, problem: "Runtime config 'tags' key cannot be defined in multiple runtime configs." },
    ]));
});

describe("an addon of a manifest", () => {
  const own = [
    replace("/releases", [{ name: "dns", version: "2" }]),
    replace("/addons?", [
      { name: "dns", jobs: [{ name: "bosh-dns", release: "dns" }], include: { azs: ["z2"], teams: ["x"] } },
    ]),
  ];

  it("adds its jobs to the groups it is for; teams are no matter", () =>
    expect(groupsWith("bosh-dns", applied([], own))).toEqual(["web"]));

  it("comes before those of runtime configs, which see its jobs", () => {
    const runtime = addon(
      ", include: {jobs: [{name: bosh-dns, release: dns}]}",
      "jobs: [{name: more, release: dns}]",
    );
    const manifest = applied([runtime.replace("1.2", "2")], own);
    expect(manifest.groups[0]?.jobs.map(({ name }) => name)).toEqual(["bosh-dns", "more"]);
  });
});
