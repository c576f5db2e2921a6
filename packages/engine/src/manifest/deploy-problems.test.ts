import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { parseYaml } from "../documents/yaml.ts";
import type { StemcellRecord } from "../model/records.ts";
import { checkDeploy } from "./deploy-problems.ts";
import { CLOUD, SHOP } from "./testing/documents.ts";

const stemcell = {
  id: 1,
  name: "noble",
  version: "1.5",
  operatingSystem: "ubuntu-noble",
  cpi: "",
  cid: "sc",
} as unknown as StemcellRecord;

function check(ops: readonly object[] = []) {
  const manifest = applyOps(parseYaml(SHOP, "m"), ops, "test");
  return checkDeploy({
    manifest,
    cloudConfigs: [parseYaml(CLOUD, "c")],
    runtimeConfigs: [],
    stemcells: [stemcell],
  });
}

const problems = (...given: Parameters<typeof check>) => {
  const checked = check(...given);
  return checked.ok ? [] : checked.problems;
};

const replace = (path: string, value: unknown) => ({ type: "replace", path, value });

describe("a deploy", () => {
  it("without mistakes has none", () => expect(problems()).toEqual([]));

  it("reports four mistakes in four parts with four messages, each at its place", () => {
    const found = problems([
      replace("/instance_groups/name=web/vm_type", "huge"),
      replace("/instance_groups/name=web/name", "../web"),
      replace("/instance_groups/name=db/instances", "many"),
      replace("/stemcells/0/version", "99"),
    ]);
    expect(found.map(({ where, code }) => [where, code])).toEqual([
      ["instance_groups[../web].name", 40005],
      ["instance_groups[db].instances", 40000],
      ["instance_groups[../web].vm_type", 140004],
      ["stemcells[default]", 50003],
    ]);
  });

  it("says what is missing once, not again as what follows from it", () => {
    const found = problems([{ type: "remove", path: "/instance_groups/name=web/stemcell" }]);
    expect(found.map(({ where }) => where)).toEqual(["instance_groups[web].stemcell"]);
  });

  it("names what is wrong with it by its kind where it is one kind", () => {
    expect(check([replace("/instance_groups/name=web/vm_type", "huge")])).toMatchObject({
      what: "manifest and cloud config do not fit",
    });
    expect(check([replace("/update", 1)])).toMatchObject({ what: "the manifest is not valid" });
  });

  it("says where exported_from is not a stemcell, and which job it does not suit", () => {
    const release = (exportedFrom: unknown) => ({ name: "r", version: 1, exported_from: exportedFrom });
    const found = (exportedFrom: unknown) =>
      problems([
        replace("/releases", [release(exportedFrom)]),
        replace("/instance_groups/name=web/jobs", [{ name: "j", release: "r" }]),
      ]).map(({ where, code }) => [where, code]);
    expect(found([{ os: "ubuntu-noble" }, 7])).toEqual([
      ["releases[r].exported_from[1]", 40000],
      ["releases[r].exported_from[0].version", 40001],
    ]);
    expect(found([{ os: "ubuntu-noble", version: 1.9 }])).toEqual([]);
    const mismatch = [["instance_groups[web].jobs[j].release", 80015]];
    expect(found([{ os: "ubuntu-noble", version: 2 }])).toEqual(mismatch);
    expect(found([{ os: "ubuntu-jammy", version: 1.5 }])).toEqual(mismatch);
  });

  it("looks at exported_from of a runtime config's releases, too", () => {
    const runtime = {
      releases: [{ name: "r", version: "1", exported_from: [{ os: "ubuntu-jammy", version: "1" }] }],
      addons: [{ name: "a", jobs: [{ name: "j", release: "r" }], include: { instance_groups: ["db"] } }],
    };
    const checked = checkDeploy({
      manifest: parseYaml(SHOP, "m"),
      cloudConfigs: [parseYaml(CLOUD, "c")],
      runtimeConfigs: [runtime],
      stemcells: [stemcell],
    });
    expect(checked.ok ? [] : checked.problems).toMatchObject([
      { where: "instance_groups[db].jobs[j].release", code: 80015 },
    ]);
  });
});
