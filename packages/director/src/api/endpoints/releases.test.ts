import { readdir } from "node:fs/promises";
import { blobId } from "@slipway/engine/blobs/blob-id";
import type { BlobId, Blobs } from "@slipway/engine/blobs/blobs";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { systemRandom } from "@slipway/kernel/random";
import { readJobManifest } from "@slipway/protocol/release/job-mf";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureDeployment } from "../../store/deployments.ts";
import { useReleases } from "../../store/releases.ts";
import { type PackageToSave, saveRelease } from "../../store/save-release.ts";
import { type Harness, startHarness } from "../testing/harness.ts";

let api: Harness;
let blobs: Blobs;
let removeBlobs: () => Promise<void>;

const SPEC = {
  name: "web",
  packages: ["web"],
  provides: [{ name: "http", type: "http", properties: ["port"] }],
  consumes: [{ name: "db", type: "database", optional: true }],
  properties: { port: { default: 80 } },
};
const COMPILED = { stemcellOs: "jammy", stemcellVersion: "1.1", dependencyKey: '[["golang","golang-1"]]' };

const one = (name: string, more: Partial<PackageToSave> = {}): PackageToSave => ({
  name,
  version: `${name}-1`,
  fingerprint: `${name}-1`,
  dependencies: [],
  source: { blobId: blobId(`package-${name}`), digest: `sha256:${name}` },
  compiled: undefined,
  recompile: false,
  ...more,
});

async function save(version: string, packages: readonly PackageToSave[]): Promise<number> {
  const read = readJobManifest(SPEC);
  if (!read.ok) throw new Error(read.problems.join());
  const about = {
    name: "web",
    version: "1",
    fingerprint: "f1",
    digest: "sha256:aa",
    blobId: blobId("job-1"),
  };
  return await saveRelease(api.db, {
    ...{ name: "shop", version, commitHash: "abc", uncommittedChanges: false, shared: [] },
    jobs: [{ ...about, job: read.job }],
    packages,
  });
}

const put = (id: string) => blobs.put((async function* () {})(), { id: id as BlobId });

beforeAll(async () => {
  const { path, remove } = await temporaryDirectory();
  removeBlobs = remove;
  blobs = directoryBlobs({ dir: path, random: systemRandom });
  api = await startHarness({ blobs });
  for (const id of ["job-1", "package-golang", "package-web", "compiled-web"]) await put(id);
  const compiled = { ...COMPILED, blobId: blobId("compiled-web"), digest: "sha256:cc" };
  await save("10", [one("golang"), one("web", { dependencies: ["golang"], compiled })]);
  const used = await save("9+dev.1", [
    one("golang", { version: "g9", fingerprint: "g9", source: undefined }),
  ]);
  const { id } = await ensureDeployment(api.db, "prod");
  await useReleases(api.db, id, [{ id: used, name: "shop", version: "9+dev.1" }]);
});
afterAll(async () => {
  await api.close();
  await removeBlobs();
});

describe("releases", () => {
  it("are listed with their versions, the oldest first, and whether they are in use", async () => {
    const about = { commit_hash: "abc", uncommitted_changes: false, job_names: ["web"] };
    expect((await api.get("/releases", "reader")).json).toEqual([
      {
        name: "shop",
        release_versions: [
          { version: "9+dev.1", currently_deployed: true, ...about },
          { version: "10", currently_deployed: false, ...about },
        ],
      },
    ]);
    expect((await api.get("/deployments")).json).toMatchObject([
      { name: "prod", releases: [{ name: "shop", version: "9+dev.1" }] },
    ]);
  });

  it("are shown with jobs, links, packages and what was compiled of them", async () => {
    const answer = await api.get("/releases/shop?version=10");
    expect(api.errors).toEqual([]);
    expect(answer.json).toEqual({
      jobs: [
        {
          name: "web",
          blobstore_id: "job-1",
          sha1: "sha256:aa",
          fingerprint: "f1",
          consumes: [{ name: "db", type: "database", optional: true }],
          provides: [{ name: "http", type: "http", properties: ["port"] }],
        },
      ],
      packages: [
        {
          ...{ name: "golang", blobstore_id: "package-golang", sha1: "sha256:golang" },
          ...{ fingerprint: "golang-1", compiled_packages: [] },
        },
        {
          ...{ name: "web", blobstore_id: "package-web", sha1: "sha256:web", fingerprint: "web-1" },
          compiled_packages: [{ stemcell: "jammy/1.1", sha1: "sha256:cc", blobstore_id: "compiled-web" }],
        },
      ],
    });
    expect((await api.get("/releases/shop?version=9%2Bdev.1")).json).toMatchObject({
      packages: [{ name: "golang", blobstore_id: null, sha1: null }],
    });
    expect((await api.get("/releases/shop?version=9.1-dev")).status).toBe(200);
  });

  it("tell the spec of a job by release, name and fingerprint", async () => {
    const job = "/jobs?name=web&release_name=shop&fingerprint=f1";
    expect(await api.get(job, "reader")).toMatchObject({
      status: 200,
      json: [{ name: "web", fingerprint: "f1", spec: SPEC }],
    });
    expect((await api.get("/jobs?name=web&release_name=shop")).status).toBe(400);
    for (const other of [
      "name=db&release_name=shop&fingerprint=f1",
      "name=web&release_name=x&fingerprint=f1",
    ])
      expect((await api.get(`/jobs?${other}`)).status).toBe(404);
    expect((await api.get(job.replace("f1", "f2"))).status).toBe(404);
  });

  it("are shown without a version as all that they have", async () => {
    expect((await api.get("/releases/shop")).json).toEqual({
      jobs: [{ name: "web", version: "1", sha1: "sha256:aa", blobstore_id: "job-1", packages: ["web"] }],
      packages: [
        {
          ...{ name: "golang", version: "golang-1", sha1: "sha256:golang" },
          ...{ blobstore_id: "package-golang", dependencies: [] },
        },
        {
          ...{ name: "web", version: "web-1", sha1: "sha256:web" },
          ...{ blobstore_id: "package-web", dependencies: ["golang"] },
        },
        { name: "golang", version: "g9", sha1: null, blobstore_id: null, dependencies: [] },
      ],
      versions: ["9+dev.1", "10"],
    });
  });

  it.each([
    ["GET", "/releases/none", 30005],
    ["GET", "/releases/none?version=1", 30005],
    ["GET", "/releases/shop?version=11", 30006],
    ["DELETE", "/releases/none", 30005],
  ])("answers %s %s for an absent release with 404 and code %i", async (method, path, code) => {
    expect(await api.ask(method, path)).toMatchObject({ status: 404, json: { code } });
  });

  it("are deleted by a task", async () => {
    expect(await api.ask("DELETE", "/releases/shop?version=9%2Bdev.1&force=true")).toMatchObject({
      status: 302,
    });
    expect(await api.ask("DELETE", "/releases/shop")).toMatchObject({ status: 302 });
    expect(api.queued.splice(0)).toMatchObject([
      {
        type: "delete_release",
        description: "delete release: shop/9+dev.1",
        params: { name: "shop", version: "9+dev.1", force: true },
      },
      { description: "delete release: shop", params: { name: "shop", force: false } },
    ]);
  });
});

describe("a release that is uploaded", () => {
  it("starts a task with its address, digest and options if it is at an address", async () => {
    const type = "application/json";
    const body = JSON.stringify({ location: "https://example.org/r.tgz", sha1: `sha256:${"a".repeat(64)}` });
    expect(await api.ask("POST", "/releases?fix=true&rebase=true", { type, body })).toMatchObject({
      status: 302,
    });
    expect(api.queued.splice(0)).toMatchObject(
      [
        {
          type: "update_release",
          description: "create release",
          params: { location: "https://example.org/r.tgz", sha1: /^sha256:a/, fix: true, rebase: true },
        },
      ].map(({ params: { sha1: _, ...params }, ...task }) => ({ ...task, params })),
    );
    const bad = JSON.stringify({ location: "https://example.org/r.tgz", sha1: "abc" });
    expect(await api.ask("POST", "/releases", { type, body: bad })).toMatchObject({
      status: 400,
      json: { code: 40005, description: expect.stringContaining("the release") },
    });
  });

  it("waits for its task in a file if it is an archive; an empty one is refused and nothing is kept", async () => {
    const type = "application/x-compressed";
    expect(await api.ask("POST", "/releases?", { type, body: Buffer.alloc(4 << 20) })).toMatchObject({
      status: 302,
    });
    const [task] = api.queued.splice(0);
    expect(task).toMatchObject({ type: "update_release", params: { fix: false, rebase: false } });
    expect(await readdir(api.uploadsDir)).toEqual([String(task?.params.path).split("/").at(-1)]);
    expect(await api.ask("POST", "/releases?", { type, body: "" })).toMatchObject({
      status: 400,
      json: { code: 30002 },
    });
    expect(await readdir(api.uploadsDir)).toHaveLength(1);
  });
});

describe("packages that an upload may leave out", () => {
  const entry = (name: string, more: object = {}) => ({
    ...{ name, version: `${name}-1`, fingerprint: `${name}-1`, sha1: "sha256:00" },
    ...more,
  });
  const matches = async (path: string, document: object) => {
    const body = JSON.stringify({ name: "other", version: "1", ...document });
    return (await api.ask("POST", path, { type: "text/yaml", body })).json;
  };

  it("are those whose source is here, of whichever release", async () => {
    const packages = [entry("golang"), entry("new"), entry("only-compiled", { fingerprint: "g9" })];
    expect(await matches("/packages/matches", { packages })).toEqual(["golang-1"]);
  });

  it("are not those whose blob is gone", async () => {
    await blobs.remove(blobId("package-golang"));
    expect(await matches("/packages/matches", { packages: [entry("golang")] })).toEqual([]);
    await put("package-golang");
  });

  it("are, compiled, those for the same stemcell and with the same dependencies", async () => {
    const of = (stemcell: string, golang = {}) => ({
      compiled_packages: [
        entry("golang", { stemcell, ...golang }),
        entry("web", { stemcell, dependencies: ["golang"] }),
      ],
    });
    expect(await matches("/packages/matches_compiled", of("jammy/1.1"))).toEqual(["web-1"]);
    expect(await matches("/packages/matches_compiled", of("jammy/1.2"))).toEqual([]);
    expect(await matches("/packages/matches_compiled", of("jammy/1.1", { version: "golang-2" }))).toEqual([]);
  });

  it.each([
    ["/packages/matches", { compiled_packages: [] }],
    ["/packages/matches_compiled", { packages: [] }],
    ["/packages/matches", { packages: [{}] }],
  ])("are not found for what is no such release: %s %j", async (path, document) => {
    expect(await matches(path, document)).toMatchObject({ code: 440001 });
  });
});
