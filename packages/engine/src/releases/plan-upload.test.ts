import type { Release, ReleasePackage } from "@slipway/protocol/release/release-mf";
import { describe, expect, it } from "vitest";
import { blobId } from "../blobs/blob-id.ts";
import type { CompiledPackage } from "./model.ts";
import { planReleaseUpload, rebased, type SamePackage, type UploadInput } from "./plan-upload.ts";

const STEMCELL = { os: "jammy", version: "1.1" };

const part = (name: string, fingerprint = `${name}-1`) => ({
  name,
  version: fingerprint,
  fingerprint,
  digest: `sha256:${fingerprint}`,
});
const given = (name: string, more: Partial<ReleasePackage> = {}): ReleasePackage => ({
  ...part(name),
  dependencies: [],
  stemcell: undefined,
  ...more,
});
const release = (more: Partial<Release> = {}): Release => ({
  name: "shop",
  version: "1",
  commitHash: "abc",
  uncommittedChanges: false,
  compiled: false,
  jobs: [part("web")],
  packages: [given("web")],
  ...more,
});
const known = (name: string, more: Partial<SamePackage> = {}): SamePackage => ({
  ...part(name),
  id: 1,
  release: "shop",
  dependencies: [],
  source: { blobId: blobId(`of-${name}`), digest: `sha256:${name}` },
  compiled: [],
  ...more,
});
const compiled = (more: Partial<CompiledPackage> = {}): CompiledPackage => ({
  packageId: 1,
  stemcellOs: "jammy",
  stemcellVersion: "1.1",
  dependencyKey: "[]",
  build: 1,
  blobId: blobId("compiled"),
  digest: "sha256:cc",
  ...more,
});
const plan = (more: Partial<UploadInput> = {}) =>
  planReleaseUpload({
    release: release(),
    there: undefined,
    jobs: [],
    packages: [],
    holds: () => true,
    has: () => true,
    fix: false,
    ...more,
  });
const there = (more: object = {}) => {
  const { name, version, commitHash, uncommittedChanges } = release();
  return { id: 1, name, version, commitHash, uncommittedChanges, jobs: [], packages: [], ...more };
};

describe("the upload of a release", () => {
  it("stores what is not there", () => {
    expect(plan()).toMatchObject({
      jobs: [{ name: "web", known: false, keeps: undefined }],
      packages: [{ name: "web", known: false, source: "archive", compiled: undefined }],
    });
  });

  it("keeps what the release has already", () => {
    const jobs = [{ ...part("web"), digest: "sha256:stored", blobId: blobId("job") }];
    expect(plan({ jobs, packages: [known("web")], holds: () => false })).toMatchObject({
      jobs: [{ known: true, keeps: { blobId: "job", digest: "sha256:stored" } }],
      packages: [{ known: true, source: undefined }],
    });
  });

  it("shares the source of a package with the same fingerprint, whatever it is called and wherever it is", () => {
    const other = known("other", { ...part("web"), name: "other", release: "elsewhere" });
    expect(plan({ packages: [other], holds: () => false }).packages).toMatchObject([
      { known: false, source: { same: { blobId: "of-other", digest: "sha256:other" } } },
    ]);
  });

  it("stores again what has lost its blob, or is to be fixed", () => {
    const jobs = [{ ...part("web"), blobId: blobId("job") }];
    const packages = [known("web"), known("web", { release: "elsewhere" })];
    for (const more of [{ has: () => false }, { fix: true }])
      expect(plan({ jobs, packages, ...more })).toMatchObject({
        jobs: [{ known: true, keeps: undefined }],
        packages: [{ known: true, source: "archive" }],
      });
  });

  it("gives a source to a package that was uploaded only compiled", () => {
    const packages = [known("web", { source: undefined, compiled: [compiled()] })];
    expect(plan({ packages }).packages).toMatchObject([{ known: true, source: "archive" }]);
  });

  it("is refused where the archive leaves out what is not there", () => {
    expect(() => plan({ holds: () => false })).toThrow("does not hold the package 'web'");
    expect(() => plan({ holds: () => false, fix: true, packages: [known("web")] })).toThrow("does not hold");
  });

  it("is refused where it contradicts the version that is there", () => {
    expect(() => plan({ there: there({ commitHash: "def" }) })).toThrow(
      "release 'shop/1' has already been uploaded with commit_hash as 'def' and uncommitted_changes as 'false'",
    );
    expect(() => plan({ there: there({ uncommittedChanges: true }) })).toThrow(
      "uncommitted_changes as 'true'",
    );
    const job = { ...part("web", "other"), blobId: blobId("job"), job: {} as never };
    expect(() => plan({ there: there({ jobs: [job] }) })).toThrow(
      "job 'web' had different fingerprint in previously uploaded release 'shop/1'",
    );
    const packages = [known("web", part("web", "other"))];
    expect(() => plan({ there: there({ packages }) })).toThrow(
      "package 'web' had different fingerprint in previously uploaded release 'shop/1'",
    );
    expect(plan({ there: there() }).packages).toHaveLength(1);
  });

  it("is rejected with an invalid version, and with packages that need each other", () => {
    expect(() => plan({ release: release({ version: "1-" }) })).toThrow("Release version invalid: 1-");
    const packages = [given("a", { dependencies: ["b"] }), given("b", { dependencies: ["a"] })];
    expect(() => plan({ release: release({ packages }) })).toThrow("a -> b -> a");
  });
});

describe("the upload of a compiled release", () => {
  const input = (more: Partial<UploadInput> = {}): Partial<UploadInput> => ({
    release: release({ compiled: true, packages: [given("web", { stemcell: STEMCELL })] }),
    ...more,
  });

  it("stores compiled packages without source, with what they were compiled for and with", () => {
    expect(plan(input()).packages).toMatchObject([
      {
        source: undefined,
        compiled: { stemcellOs: "jammy", stemcellVersion: "1.1", dependencyKey: "[]", source: "archive" },
      },
    ]);
  });

  it("keeps and shares those for the same stemcell and dependencies only", () => {
    const of = (packages: readonly SamePackage[]) => plan(input({ packages })).packages[0]?.compiled?.source;
    expect(of([known("web", { compiled: [compiled()] })])).toBeUndefined();
    expect(of([known("web", { release: "elsewhere", compiled: [compiled()] })])).toMatchObject({
      same: { blobId: "compiled" },
    });
    for (const other of [{ stemcellVersion: "1.2" }, { stemcellOs: "noble" }, { dependencyKey: "[1]" }])
      expect(of([known("web", { compiled: [compiled(other)] })])).toBe("archive");
  });

  it("is refused when a package that is there has other dependencies", () => {
    const packages = [known("web", { dependencies: ["golang"] })];
    expect(() => plan(input({ packages }))).toThrow("'web' that do not match database records");
  });
});

describe("--rebase", () => {
  it.each([
    ["1+dev.3", [], "1+dev.1"],
    ["1+dev.3", ["1", "2+dev.7"], "1+dev.1"],
    ["1+dev.1", ["1+dev.2", "1+dev.10"], "1+dev.11"],
    ["1", ["1"], "1+dev.1"],
    ["1-rc.1+dev.1", ["1+dev.4", "1-rc.1+dev.4"], "1-rc.1+dev.5"],
  ])("makes of %s, where there are %j, %s", (version, versions, next) => {
    expect(rebased(version, versions)).toBe(next);
  });
});
