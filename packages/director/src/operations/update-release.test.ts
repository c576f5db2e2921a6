import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { unpackStoredJob } from "@slipway/engine/releases/archive";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { systemRandom } from "@slipway/kernel/random";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { compiledFrom, saveCompiled } from "../store/compiled-packages.ts";
import { listEvents } from "../store/events.ts";
import { listReleases } from "../store/releases.ts";
import { releaseBlobId } from "./releases/blobs.ts";
import { demo, JOB, openReleaseBench, type ReleaseBench } from "./testing/release-bench.ts";

sampleTests(1 / 4);

let db: ReleaseBench["db"];
let blobs: ReleaseBench["blobs"];
let uploadsDir: string;
let { run, upload, only, blobsAre, stages } = {} as ReleaseBench;
beforeEach(async () => {
  const bench = await openReleaseBench();
  ({ db, blobs, uploadsDir, run, upload, only, blobsAre, stages } = bench);
  return () => bench.close();
});

describe("an uploaded release", () => {
  it("is known with its jobs and packages, whose blobs are what the archive held", async () => {
    const { state, result, id } = await upload(demo());
    expect([state, result]).toEqual(["done", "Created release 'demo/1'"]);
    const { jobs, packages } = await only();
    expect(jobs.map(({ name, job }) => [name, job.packages])).toEqual([["web", ["web"]]]);
    expect(packages.map(({ name, dependencies }) => [name, dependencies])).toEqual([
      ["golang", []],
      ["web", ["golang"]],
    ]);
    for (const { source } of packages) {
      const stored = await blobs.withFile(source?.blobId ?? ("" as never), (path) => readFile(path));
      expect(
        `sha256:${createHash("sha256")
          .update(stored ?? "")
          .digest("hex")}`,
      ).toBe(source?.digest);
    }
    const [web] = jobs;
    const of = (name: string) => packages.find((one) => one.name === name)?.version;
    expect(await stages(id)).toEqual([
      "Extracting release: Extracting release",
      "Verifying manifest: Verifying manifest",
      "Resolving package dependencies: Resolving package dependencies",
      `Creating new packages: golang/${of("golang")}`,
      `Creating new packages: web/${of("web")}`,
      `Creating new jobs: web/${web?.version}`,
      "Release has been created: demo/1",
    ]);
    expect(await listEvents(db, { objectType: "release" })).toMatchObject([
      { action: "create", objectName: "demo/1", user: "admin", taskId: id },
    ]);
    await expect.poll(() => readdir(uploadsDir)).toEqual([]);
  });

  it("again changes nothing, also without the packages that are known", async () => {
    await upload(demo());
    const before = await only();
    const { packages } = demo();
    const sparse = Object.fromEntries(
      Object.entries(packages).map(([name, one]) => [name, { ...one, leftOut: true }]),
    );
    const { id, state } = await upload(demo({ packages: sparse }));
    expect(state).toBe("done");
    expect(await only()).toEqual(before);
    expect((await stages(id)).slice(3)).toEqual([
      "Processing 2 existing packages: Processing 2 existing packages",
      "Processing 1 existing job: Processing 1 existing job",
      "Release has been created: demo/1",
    ]);
    await blobsAre(3);
  });

  it("shares packages with other releases, and they outlive each other", async () => {
    await upload(demo());
    await upload(demo({ name: "other" }));
    const [first, second] = [await only(), await only("1", "other")];
    expect(second.packages.map(({ source }) => source)).toEqual(first.packages.map(({ source }) => source));
    await blobsAre(4);
    expect(await run("delete_release", { name: "demo", force: false })).toMatchObject({
      state: "done",
      result: "/release/demo",
    });
    await blobsAre(3);
    for (const { source } of second.packages) expect(await blobs.list()).toContain(source?.blobId);
  });

  it("is stored again by --fix, which forgets what was compiled of it and removes its old blobs", async () => {
    await upload(demo());
    const before = await only();
    const packageId = before.packages[0]?.id ?? 0;
    const compiled = releaseBlobId(1, systemRandom);
    await blobs.put((async function* () {})(), { id: compiled });
    await saveCompiled(
      db,
      { packageId, stemcellOs: "jammy", stemcellVersion: "1", dependencyKey: "[]" },
      { blobId: compiled, digest: "sha256:00" },
    );
    expect(await upload(demo(), { fix: true })).toMatchObject({ state: "done" });
    const after = await only();
    const ids = ({ jobs, packages }: typeof after) => [
      ...jobs.map(({ blobId }) => blobId),
      ...packages.flatMap(({ source }) => source?.blobId ?? []),
    ];
    expect(ids(after).filter((id) => ids(before).includes(id))).toEqual([]);
    expect(await compiledFrom(db, [packageId])).toEqual([]);
    await blobsAre(3);
  });

  it("is repaired by the next upload without --fix if it lost a blob", async () => {
    await upload(demo());
    const lost = (await only()).packages[0]?.source?.blobId;
    await blobs.remove(lost ?? ("" as never));
    expect(await upload(demo())).toMatchObject({ state: "done" });
    const now = (await only()).packages[0]?.source?.blobId;
    expect(now).not.toBe(lost);
    expect(await blobs.list()).toContain(now);
  });

  it.each([
    ["of sources", undefined],
    ["that is compiled", "linux/1"],
  ])(
    "%s keeps the archives it has when the next version was built again from the same parts",
    async (_, os) => {
      const built = (version: string): MadeRelease => ({
        ...demo({ version, jobs: { web: { ...JOB, fingerprint: "j", monit: `# build ${version}` } } }),
        packages: { web: { fingerprint: "p", files: { packaging: `# build ${version}` } } },
        ...(os !== undefined && { compiledFor: os }),
      });
      for (const version of ["1", "2"]) expect(await upload(built(version))).toMatchObject({ state: "done" });
      for (const version of ["1", "2"]) {
        const { jobs, packages } = await only(version);
        for (const job of jobs) {
          const unpacked = await unpackStoredJob(job, blobs);
          expect(Buffer.from(unpacked.monit).toString()).toBe("# build 1");
        }
        const compiled = await compiledFrom(
          db,
          packages.map(({ id }) => id),
        );
        const kept = [...packages.map(({ source }) => source), ...compiled].filter(
          (one) => one !== undefined,
        );
        expect(kept).toHaveLength(1);
        for (const { blobId, digest } of kept)
          expect(
            await blobs.withFile(blobId, (path) => verifyDigest(path, digest, "package").then(() => "right")),
          ).toBe("right");
      }
    },
  );

  it("is taken with an empty commit hash, as the CLI writes when it packs a release again", async () => {
    expect(await upload(demo({ commitHash: "" }))).toMatchObject({ state: "done" });
    expect(await only()).toMatchObject({ commitHash: "" });
  });

  it.each([".", "..", "__proto__"])("named '%s', or with such a job or package, is refused", async (name) => {
    const jobs = { [name]: JOB };
    const packages = { [name]: { files: { packaging: "true" } } };
    for (const more of [{ name }, { jobs }, { packages }]) {
      const { state, result } = await upload(demo(more));
      expect([state, result]).toEqual(["error", expect.stringContaining("name")]);
    }
    expect(await listReleases(db)).toEqual([]);
  });

  it.each(["constructor", "toString", ".hidden"])("named '%s' is taken, and deleted again", async (name) => {
    expect(await upload(demo({ name }))).toMatchObject({ state: "done" });
    expect(await run("delete_release", { name, force: false })).toMatchObject({ state: "done" });
    expect(await listReleases(db)).toEqual([]);
  });

  it("gets the next free version by --rebase", async () => {
    await upload(demo({ version: "1+dev.4" }));
    const changed = demo({ version: "1+dev.4", jobs: { web: { ...JOB, monit: "# other" } } });
    expect(await upload(changed, { rebase: true })).toMatchObject({
      result: "Created release 'demo/1+dev.5'",
    });
    expect((await listReleases(db))[0]?.versions.map(({ version }) => version)).toEqual([
      "1+dev.4",
      "1+dev.5",
    ]);
  });

  it("is refused if it contradicts the stored version, and nothing is changed", async () => {
    await upload(demo());
    const before = await only();
    const job = demo({ jobs: { web: { ...JOB, monit: "# other" } } });
    expect(await upload(job)).toMatchObject({
      state: "error",
      result: expect.stringContaining(
        "job 'web' had different fingerprint in previously uploaded release 'demo/1'",
      ),
    });
    expect(await upload(demo({ commitHash: "abc" }))).toMatchObject({
      state: "error",
      result: expect.stringContaining("has already been uploaded with commit_hash as 'non-git'"),
    });
    expect(await only()).toEqual(before);
    await blobsAre(3);
  });

  it("is refused if it omits contents that the Director lacks or is damaged, and nothing of it stays", async () => {
    const { packages } = demo();
    const { golang = { files: {} }, web = { files: {} } } = packages;
    const sparse = demo({ packages: { golang, web: { ...web, leftOut: true } } });
    expect(await upload(sparse)).toMatchObject({
      state: "error",
      result: expect.stringContaining("does not hold the package 'web'"),
    });
    const whole = await releaseTarball(demo());
    expect(await upload(whole.subarray(0, whole.length - 100))).toMatchObject({ state: "error" });
    const ring = { golang: { ...golang, dependencies: ["web"] }, web };
    expect(await upload(demo({ packages: ring }))).toMatchObject({
      result: expect.stringContaining("need each other"),
    });
    expect(await listReleases(db)).toEqual([]);
    await blobsAre(0);
    await expect.poll(() => readdir(uploadsDir)).toEqual([]);
  });

  it("is refused if a job is not what release.MF says, or has an unreadable schema", async () => {
    const strange = demo({ jobs: { web: { ...JOB, spec: { name: "other" } } } });
    expect(await upload(strange)).toMatchObject({
      state: "error",
      result: expect.stringContaining("'other'"),
    });
    const unreadable = demo({ jobs: { web: { ...JOB, schema: "{" } } });
    expect(await upload(unreadable)).toMatchObject({
      state: "error",
      result: expect.stringContaining("properties_schema.json is not JSON"),
    });
  });
});
