import { blobId } from "@slipway/engine/blobs/blob-id";
import type { KnownJob } from "@slipway/engine/releases/model";
import type { StemcellCid } from "@slipway/protocol/ids";
import { readJobManifest } from "@slipway/protocol/release/job-mf";
import { emptied, freshDatabase } from "@slipway/testkit/database";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  compiledFrom,
  deleteUnusedCompiled,
  findCompiled,
  listCompiled,
  saveCompiled,
} from "./compiled-packages.ts";
import { deleteReleaseVersions } from "./delete-release.ts";
import { ensureDeployment, listDeployments, saveSuccess } from "./deployments.ts";
import { BlobWithoutOwner, ReleaseGone, ReleaseVersionInUse } from "./errors.ts";
import { listReleases, loadReleases, useReleases, versionsOf } from "./releases.ts";
import { type PackageToSave, saveRelease } from "./save-release.ts";
import type { Db } from "./schema.ts";
import { saveStemcell } from "./stemcells.ts";
import { failure } from "./testing/failure.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
beforeAll(async () => {
  base = await freshDatabase();
  db = base.db;
});
afterAll(() => base.close());
beforeEach(() => emptied(base.connection));

const SPEC = {
  name: "web",
  templates: { "b.erb": "config/b", "a.erb": "bin/a" },
  packages: ["web"],
  properties: {
    "z.port": { default: 80 },
    "a.none": {},
    "a.text": { default: "a\u0000b" },
    "a.nil": { default: null },
  },
  provides: [{ name: "http", type: "http", properties: ["z.port"] }],
  consumes: [{ name: "db", type: "db", optional: true }],
  logs: { main: "web/*.log" },
};

function web(more: Partial<KnownJob> = {}): KnownJob {
  const read = readJobManifest(SPEC);
  if (!read.ok) throw new Error(read.problems.join());
  const about = {
    name: "web",
    version: "1",
    fingerprint: "f1",
    digest: "sha256:aa",
    blobId: blobId("job-1"),
  };
  return { ...about, job: read.job, ...more };
}

const one = (name: string, more: Partial<PackageToSave> = {}): PackageToSave => ({
  name,
  version: `${name}-1`,
  fingerprint: `${name}-1`,
  dependencies: [],
  source: { blobId: blobId(`package-${name}`), digest: "sha256:bb" },
  compiled: undefined,
  recompile: false,
  ...more,
});

const save = (version: string, more: Partial<Parameters<typeof saveRelease>[1]> = {}) =>
  saveRelease(db, {
    name: "shop",
    version,
    commitHash: "abc",
    uncommittedChanges: false,
    jobs: [web()],
    packages: [one("golang"), one("web", { dependencies: ["golang"] })],
    shared: [],
    ...more,
  });

describe("releases", () => {
  it("are read as they were saved, with all that job.MF says", async () => {
    const id = await save("1+dev.2");
    const [release] = await loadReleases(db, [{ name: "shop", version: "1.2-dev" }]);
    expect(release).toMatchObject({ id, name: "shop", version: "1+dev.2", commitHash: "abc" });
    expect(release?.jobs).toEqual([web()]);
    expect([...(release?.jobs[0]?.job.properties.keys() ?? [])]).toEqual(Object.keys(SPEC.properties));
    expect(release?.packages.map(({ id: _, ...rest }) => rest)).toEqual(
      [one("golang"), one("web", { dependencies: ["golang"] })].map(
        ({ compiled: _, recompile: __, ...rest }) => rest,
      ),
    );
  });

  it("are left out if they do not exist, and told apart by name and version", async () => {
    await save("1");
    await save("2");
    await save("1", { name: "other" });
    const found = await loadReleases(db, [
      { name: "shop", version: "1" },
      { name: "other", version: "2" },
    ]);
    expect(found.map(({ name, version }) => `${name}/${version}`)).toEqual(["shop/1"]);
    expect(await loadReleases(db, [])).toEqual([]);
  });

  it("may have no jobs and packages, or very many", async () => {
    await save("1", { jobs: [], packages: [] });
    await save("2", { packages: Array.from({ length: 1200 }, (_, at) => one(`p${at}`)) });
    const [few, many] = await loadReleases(db, [
      { name: "shop", version: "1" },
      { name: "shop", version: "2" },
    ]);
    expect(few).toMatchObject({ jobs: [], packages: [] });
    expect(many?.packages).toHaveLength(1200);
  });

  it("share jobs and packages among their versions, and saved again get the new contents", async () => {
    await save("1");
    const id = await save("2", { jobs: [web({ blobId: blobId("job-2") })] });
    expect(await save("2", { jobs: [web({ blobId: blobId("job-2") })] })).toBe(id);
    const found = await loadReleases(db, [
      { name: "shop", version: "1" },
      { name: "shop", version: "2" },
    ]);
    expect(found.map(({ jobs }) => jobs[0]?.blobId)).toEqual(["job-2", "job-2"]);
    expect(new Set(found.flatMap(({ packages }) => packages.map(({ id }) => id))).size).toBe(2);
  });

  it("are listed by name, versions by age, with who uses them", async () => {
    for (const version of ["10", "2+dev.1", "2", "9-rc.1"]) await save(version);
    const used = await save("1", { name: "apple" });
    const { id } = await ensureDeployment(db, "prod");
    const apple = { id: used, name: "apple", version: "1" };
    await useReleases(db, id, [apple, apple]);
    await useReleases(db, id, [apple]);
    const listed = await listReleases(db);
    expect(listed.map(({ name }) => name)).toEqual(["apple", "shop"]);
    expect(listed[0]?.versions[0]).toMatchObject({ id: used, deployments: ["prod"], jobs: ["web"] });
    expect(listed[1]?.versions.map(({ version }) => version)).toEqual(["2", "2+dev.1", "9-rc.1", "10"]);
    expect(await versionsOf(db, "shop")).toEqual(["2", "2+dev.1", "9-rc.1", "10"]);
    expect(await versionsOf(db, "none")).toEqual([]);
  });

  it("are those of the last success of a deployment", async () => {
    const [first, second] = [await save("1"), await save("2")];
    const { id } = await ensureDeployment(db, "prod");
    await useReleases(db, id, [{ id: first, name: "shop", version: "1" }]);
    const releases = [{ id: second, name: "shop", version: "2" }];
    await saveSuccess(db, id, { manifestText: "a", configs: [], stemcells: [], releases });
    expect((await listDeployments(db))[0]?.releases).toEqual([{ name: "shop", version: "2" }]);
  });

  it("are not deleted if a deploy that is about to commit uses them", async () => {
    const used = await save("1");
    const { id } = await ensureDeployment(db, "prod");
    const deletion = await db.transaction().execute(async (tx) => {
      await useReleases(tx, id, [{ id: used, name: "shop", version: "1" }]);
      const ended = failure(deleteReleaseVersions(db, "shop", "1"));
      const waiting = async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        return rows.length;
      };
      await expect.poll(waiting, { timeout: 60_000 }).toBe(1);
      return { ended };
    });
    expect(ReleaseVersionInUse.is(await deletion.ended)).toBe(true);
    expect(await versionsOf(db, "shop")).toEqual(["1"]);
  });

  it("cannot be used by a deployment once they are deleted, and the error names the release", async () => {
    const used = await save("1");
    const { id } = await ensureDeployment(db, "prod");
    await deleteReleaseVersions(db, "shop", "1");
    const error = await failure(useReleases(db, id, [{ id: used, name: "shop", version: "1" }]));
    expect(ReleaseGone.is(error)).toBe(true);
    expect(error).toMatchObject({ message: expect.stringContaining("the release 'shop/1' was deleted") });
  });

  it("cannot be given a blob that no release has any more", async () => {
    await save("1");
    await save("1", { name: "other", shared: [blobId("package-golang")] });
    const error = await failure(save("1", { name: "third", shared: [blobId("package-gone")] }));
    expect(BlobWithoutOwner.is(error)).toBe(true);
    expect((await listReleases(db)).map(({ name }) => name)).toEqual(["other", "shop"]);
  });
});

describe("compiled packages", () => {
  const key = async (more: object = {}) => {
    const [release] = await loadReleases(db, [{ name: "shop", version: "1" }]);
    const packageId = release?.packages[0]?.id ?? 0;
    return { packageId, stemcellOs: "jammy", stemcellVersion: "1.1", dependencyKey: "[]", ...more };
  };
  const made = (id: string) => ({ blobId: blobId(id), digest: `sha256:${id}` });

  it("are found by exactly what they were compiled for and with", async () => {
    await save("1");
    const saved = await saveCompiled(db, await key(), made("c1"));
    expect(saved).toMatchObject({ build: 1, blobId: "c1" });
    expect(await findCompiled(db, [await key()])).toEqual([saved]);
    for (const other of [
      { stemcellOs: "noble" },
      { stemcellVersion: "1.2" },
      { dependencyKey: '[["a","1"]]' },
    ])
      expect(await findCompiled(db, [await key(other)])).toEqual([]);
  });

  it("have builds that count up for one package on one stemcell, also when they come together", async () => {
    await save("1");
    const keys = await Promise.all(
      ["[]", "[1]", "[2]", "[3]"].map((dependencyKey) => key({ dependencyKey })),
    );
    const saved = await Promise.all(keys.map((one, at) => saveCompiled(db, one, made(`c${at}`))));
    expect(saved.map(({ build }) => build).sort()).toEqual([1, 2, 3, 4]);
    expect(await saveCompiled(db, await key({ stemcellVersion: "2" }), made("c9"))).toMatchObject({
      build: 1,
    });
  });

  it("are deleted by a clean-up unless a stemcell of their line was uploaded since it listed them", async () => {
    await save("1");
    for (const stemcellVersion of ["1.1", "2.1"])
      await saveCompiled(db, await key({ stemcellVersion }), made(`c${stemcellVersion}`));
    const listed = await listCompiled(db);
    await saveStemcell(db, {
      ...{ name: "s", version: "1.9", operatingSystem: "jammy", digest: "none", cpi: "", apiVersion: 3 },
      cid: "stemcell-1" as StemcellCid,
    });
    const deleted: boolean[] = [];
    for (const { id } of listed) deleted.push(await deleteUnusedCompiled(db, id));
    expect(deleted).toEqual([false, true]);
    expect((await listCompiled(db)).map(({ stemcellVersion }) => stemcellVersion)).toEqual(["1.1"]);
  });

  it("stay as they are if they exist already", async () => {
    await save("1");
    const first = await saveCompiled(db, await key(), made("c1"));
    expect(await saveCompiled(db, await key(), made("c2"))).toEqual(first);
  });

  it("come with an upload as well, whose package needs no source, and are replaced by another", async () => {
    const compiled = (id: string) => ({
      ...{ stemcellOs: "jammy", stemcellVersion: "1.1", dependencyKey: "[]" },
      ...made(id),
    });
    await save("1", { packages: [one("golang", { source: undefined, compiled: compiled("c1") })] });
    const [release] = await loadReleases(db, [{ name: "shop", version: "1" }]);
    expect(release?.packages[0]?.source).toBeUndefined();
    await save("1", { packages: [one("golang")] });
    await save("1", { packages: [one("golang", { source: undefined, compiled: compiled("c2") })] });
    const [again] = await loadReleases(db, [{ name: "shop", version: "1" }]);
    expect(again?.packages[0]?.source).toEqual(one("golang").source);
    expect(await compiledFrom(db, [again?.packages[0]?.id ?? 0])).toMatchObject([{ build: 1, blobId: "c2" }]);
  });
});
