import { describe, expect, it } from "vitest";
import type { UploadedStemcell } from "../store/stemcells.ts";
import { namedIn, unusedCompiled, unusedReleases, unusedStemcells } from "./unused.ts";

const release = (name: string, ...versions: readonly string[]) => ({
  name,
  // A star marks what is deployed.
  versions: versions.map((text, id) => ({
    ...{ id, version: text.replace("*", ""), commitHash: "", uncommittedChanges: false, jobs: [] },
    deployments: text.endsWith("*") ? ["shop"] : [],
  })),
});
const stemcell = (name: string, version: string, cpi = "", ...deployments: readonly string[]) =>
  ({ name, version, cpi, operatingSystem: "os", deployments }) as unknown as UploadedStemcell;
const nobody = () => false;

describe("unused releases", () => {
  it("are all but the newest two of those that are not deployed", () => {
    expect(unusedReleases([release("a", "1", "2*", "3", "4", "5")], nobody, false)).toEqual([
      { name: "a", versions: ["1", "3"] },
    ]);
    expect(unusedReleases([release("a", "1", "2")], nobody, false)).toEqual([]);
  });

  it("are all that are not deployed, if all are meant", () => {
    expect(unusedReleases([release("a", "1", "2*", "3"), release("b", "1*")], nobody, true)).toEqual([
      { name: "a", versions: ["1", "3"] },
    ]);
  });

  it("are not those that a runtime config names", () => {
    const named = namedIn([{ releases: [{ name: "a", version: 1 }] }, {}, null, { releases: "none" }]);
    expect(unusedReleases([release("a", "1", "2")], named, true)).toEqual([{ name: "a", versions: ["2"] }]);
  });
});

describe("unused stemcells", () => {
  const gone = (all: boolean, ...stemcells: readonly UploadedStemcell[]) =>
    unusedStemcells(stemcells, all).map(({ version, cpi }) => `${version} ${cpi}`.trim());

  it("are all but the newest two versions of each name, of all CPIs", () => {
    const two = (version: string) => [stemcell("a", version, "x"), stemcell("a", version, "y")];
    expect(gone(false, ...two("1.10"), ...two("1.9"), ...two("1.2"), stemcell("b", "1"))).toEqual([
      "1.2 x",
      "1.2 y",
    ]);
    expect(gone(true, stemcell("a", "1"), stemcell("b", "2"))).toEqual(["1", "2"]);
  });

  it("are not those that are used with another CPI", () => {
    expect(gone(true, stemcell("a", "1", "x", "shop"), stemcell("a", "1", "y"))).toEqual([]);
  });
});

describe("unneeded compiled packages", () => {
  it("are for no stemcell of the line of one that stays", () => {
    const of = (stemcellOs: string, stemcellVersion: string) => ({ stemcellOs, stemcellVersion });
    const all = [of("os", "1.5"), of("os", "2.1"), of("os", "1_7"), of("other", "1.5")];
    expect(unusedCompiled(all, [stemcell("a", "1.9")])).toEqual([of("os", "2.1"), of("other", "1.5")]);
    expect(unusedCompiled(all, [])).toEqual(all);
  });
});
