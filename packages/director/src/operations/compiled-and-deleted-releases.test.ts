import type { MadeRelease } from "@slipway/testkit/release-tarball";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { compiledFrom } from "../store/compiled-packages.ts";
import { ensureDeployment } from "../store/deployments.ts";
import { listReleases, useReleases } from "../store/releases.ts";
import { sweepReleaseBlobs } from "./releases/blobs.ts";
import { demo, JOB, openReleaseBench, type ReleaseBench } from "./testing/release-bench.ts";

sampleTests(1 / 4);

let db: ReleaseBench["db"];
let blobs: ReleaseBench["blobs"];
let { run, upload, only, blobsAre, stages } = {} as ReleaseBench;
beforeEach(async () => {
  const bench = await openReleaseBench();
  ({ db, blobs, run, upload, only, blobsAre, stages } = bench);
  return () => bench.close();
});

describe("a compiled release", () => {
  const compiled = (more: Partial<MadeRelease> = {}) => demo({ compiledFor: "jammy/1.1", ...more });

  it("is known without sources, and a source release adds them", async () => {
    const { id, state } = await upload(compiled());
    expect(state).toBe("done");
    const release = await only();
    expect(release.packages.map(({ source }) => source)).toEqual([undefined, undefined]);
    const ids = release.packages.map((one) => one.id);
    const found = await compiledFrom(db, ids);
    expect(
      found.map(({ stemcellOs, stemcellVersion, build }) => [stemcellOs, stemcellVersion, build]),
    ).toEqual([
      ["jammy", "1.1", 1],
      ["jammy", "1.1", 1],
    ]);
    const golang = release.packages[0]?.version;
    expect(found.map(({ dependencyKey }) => dependencyKey)).toEqual(["[]", `[["golang","${golang}"]]`]);
    expect((await stages(id)).slice(-4)).toEqual([
      `Creating new compiled packages: golang/${golang} for jammy/1.1`,
      `Creating new compiled packages: web/${release.packages[1]?.version} for jammy/1.1`,
      `Creating new jobs: web/${release.jobs[0]?.version}`,
      "Compiled Release has been created: demo/1",
    ]);
    expect(await upload(demo())).toMatchObject({ state: "done" });
    expect((await only()).packages.every(({ source }) => source !== undefined)).toBe(true);
    expect(await compiledFrom(db, ids)).toHaveLength(2);
  });

  it("is added to the same packages if it is for another stemcell", async () => {
    await upload(compiled());
    expect(await upload(compiled({ compiledFor: "noble/1" }))).toMatchObject({ state: "done" });
    const { packages } = await only();
    expect(
      await compiledFrom(
        db,
        packages.map((one) => one.id),
      ),
    ).toHaveLength(4);
  });
});

describe("a release that is deleted", () => {
  it("loses one version, or all, with what no other version needs", async () => {
    await upload(demo());
    await upload(demo({ version: "2", jobs: { web: { ...JOB, monit: "# two" } } }));
    await blobsAre(4);
    expect(await run("delete_release", { name: "demo", version: "1", force: false })).toMatchObject({
      state: "done",
    });
    await blobsAre(3);
    expect((await listReleases(db))[0]?.versions.map(({ version }) => version)).toEqual(["2"]);
    expect(await run("delete_release", { name: "demo", force: false })).toMatchObject({ state: "done" });
    await blobsAre(0);
    expect(await listReleases(db)).toEqual([]);
  });

  it("names packages, jobs and versions that go with it in upstream's stages, also in a clean-up", async () => {
    const second = { ...JOB, monit: "# two" };
    await upload(demo());
    await upload(demo({ version: "2", jobs: { web: second } }));
    const [first, kept] = [await only("1"), await only("2")];
    const one = await run("delete_release", { name: "demo", version: "1", force: false });
    expect(await stages(one.id)).toEqual([`Deleting jobs: web/${first.jobs[0]?.version}`]);
    const packages = kept.packages.map(({ name, version }) => `Deleting packages: ${name}/${version}`);
    const whole = [...packages, `Deleting jobs: web/${kept.jobs[0]?.version}`];
    const all = await run("delete_release", { name: "demo", force: false });
    expect(await stages(all.id)).toEqual([...whole, "Deleting release versions: demo/2"]);
    await upload(demo({ version: "2", jobs: { web: second } }));
    const cleanUp = await run("delete_artifacts", { remove_all: true, keep_orphaned_disks: false });
    expect(await stages(cleanUp.id)).toEqual([
      "Deleting releases: demo/2",
      ...whole,
      "Deleting dns blobs: DNS blobs",
    ]);
  });

  it("is refused while a deployment uses it, and when it is not there", async () => {
    await upload(demo());
    await upload(demo({ version: "2" }));
    const { id } = await ensureDeployment(db, "prod");
    await useReleases(db, id, [await only("1")]);
    const remove = async (version?: string) =>
      (await run("delete_release", { name: "demo", force: true, ...(version !== undefined && { version }) }))
        .result;
    expect(await remove("1")).toContain("ReleaseVersion 'demo/1' is still in use by: prod");
    expect(await remove()).toContain("Release 'demo' is still in use by: prod");
    expect(await remove("3")).toContain("Release version 'demo/3' doesn't exist");
    expect(await remove("2")).toBe("/release/demo");
    expect((await run("delete_release", { name: "none", force: false })).result).toContain(
      "Release 'none' doesn't exist",
    );
  });
});

describe("blobs without a record", () => {
  it("are swept away, but not those of tasks that are under way, nor what is no release's", async () => {
    const put = (id: string) => blobs.put((async function* () {})(), { id: id as never });
    const { id } = await upload(demo());
    await put(`release-${id}-left`);
    await put("release-999-left");
    await put("logs-of-somebody");
    await db.updateTable("tasks").set({ state: "processing" }).where("id", "=", id).execute();
    expect(await sweepReleaseBlobs(db, blobs)).toEqual(["release-999-left"]);
    expect(await sweepReleaseBlobs(db, blobs, id)).toEqual([`release-${id}-left`]);
    expect(await blobs.list()).toHaveLength(4);
  });
});
