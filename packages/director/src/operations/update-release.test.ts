import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { directoryBlobs, type FileBlobs } from "@slipway/engine/blobs/directory-blobs";
import { configuredClouds } from "@slipway/engine/clouds/testing/configured";
import { unpackStoredJob } from "@slipway/engine/releases/archive";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { TaskType } from "@slipway/protocol/director/task";
import { freshDatabase } from "@slipway/testkit/database";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { documentsHere } from "../documents/documents.ts";
import { compiledFrom, saveCompiled } from "../store/compiled-packages.ts";
import { ensureDeployment } from "../store/deployments.ts";
import { listEvents } from "../store/events.ts";
import { listReleases, loadReleases, useReleases } from "../store/releases.ts";
import type { Db } from "../store/schema.ts";
import { readOutput } from "../tasks/output.ts";
import { TaskRunner } from "../tasks/runner.ts";
import type { OperationTools } from "./operation.ts";
import { operations } from "./operations.ts";
import { releaseBlobId, sweepReleaseBlobs } from "./releases/blobs.ts";

sampleTests(1 / 4);

let db: Db;
let blobs: FileBlobs;
let runner: TaskRunner;
let uploadsDir: string;

beforeEach(async () => {
  const base = await freshDatabase();
  const { path: root, remove } = await temporaryDirectory();
  db = base.db;
  uploadsDir = join(root, "uploads");
  await mkdir(uploadsDir);
  await mkdir(join(root, "blobs"));
  blobs = directoryBlobs({ dir: join(root, "blobs"), random: systemRandom });
  // It calls neither CPIs nor agents, and renders nothing.
  const renderer = { open: () => ({ close: () => undefined }) };
  const outside = { clouds: configuredClouds(), agents: {}, renderer, settings: { directorName: "d" } };
  const tools = { db, blobs, uploadsDir, documents: documentsHere, clock: systemClock, random: systemRandom };
  runner = new TaskRunner({
    db,
    works: operations({ ...tools, ...outside } as unknown as OperationTools),
    clock: systemClock,
    random: systemRandom,
    alone: true,
    onError: () => undefined,
  });
  runner.start();
  return async () => {
    await runner.stop();
    await base.close();
    await remove();
  };
});

const JOB = { spec: { packages: ["web"] }, monit: "", templates: {} };
const demo = (more: Partial<MadeRelease> = {}): MadeRelease => ({
  name: "demo",
  version: "1",
  jobs: { web: JOB },
  packages: {
    golang: { files: { packaging: "true" } },
    web: { dependencies: ["golang"], files: { packaging: "echo web" } },
  },
  ...more,
});

async function run(
  type: TaskType,
  params: object,
): Promise<{ id: number; state: string; result: string | null }> {
  const id = await runner.enqueue({ type, description: type, user: "admin", params: { ...params } });
  const ended = await expect
    .poll(async () => {
      const row = await db
        .selectFrom("tasks")
        .select(["state", "result"])
        .where("id", "=", id)
        .executeTakeFirst();
      return row?.state;
    })
    .toMatch(/done|error|cancelled/)
    .then(() =>
      db.selectFrom("tasks").select(["state", "result"]).where("id", "=", id).executeTakeFirstOrThrow(),
    );
  return { id, ...ended };
}

let uploads = 0;
async function upload(release: MadeRelease | Buffer, options: { fix?: boolean; rebase?: boolean } = {}) {
  const path = join(uploadsDir, `release-${uploads++}.tgz`);
  await writeFile(path, Buffer.isBuffer(release) ? release : await releaseTarball(release));
  return await run("update_release", { path, fix: false, rebase: false, ...options });
}

const only = async (version = "1", name = "demo") => {
  const [release] = await loadReleases(db, [{ name, version }]);
  if (release === undefined) throw new Error(`no ${name}/${version}`);
  return release;
};
/** Once what nobody needs is swept away after the task. */
const blobsAre = (count: number) => expect.poll(async () => (await blobs.list()).length).toBe(count);

async function stages(id: number): Promise<string[]> {
  const { data } = await readOutput(db, id, "event");
  return data
    .toString()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { stage?: string; task?: string; state?: string })
    .filter(({ state }) => state === "started")
    .map(({ stage, task }) => `${stage}: ${task}`);
}

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
      const stored = await readFile(blobs.pathOf(source?.blobId ?? ("" as never)));
      expect(`sha256:${createHash("sha256").update(stored).digest("hex")}`).toBe(source?.digest);
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

  it("is stored anew by --fix, with what was compiled of it forgotten, and what it had is removed", async () => {
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

  it("that lost a blob is repaired by the next upload, without --fix", async () => {
    await upload(demo());
    const lost = (await only()).packages[0]?.source?.blobId;
    await rm(blobs.pathOf(lost ?? ("" as never)));
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
          const unpacked = await unpackStoredJob(job, blobs.pathOf(job.blobId));
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
        for (const { blobId, digest } of kept) await verifyDigest(blobs.pathOf(blobId), digest, "package");
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

  it("that contradicts the version that is there is refused, and nothing is changed", async () => {
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

  it("that leaves out what is not known, or is damaged, is refused, and nothing of it stays", async () => {
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

  it("whose job is not what release.MF says, or has a schema that nobody can read, is refused", async () => {
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

  it("for another stemcell is added to the same packages", async () => {
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

describe("blobs that nobody names", () => {
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
