import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeAppRelease } from "./testing/app-release.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())("releases, with the real CLI", () => {
  const world = openWorld();

  const JOB = {
    spec: {
      packages: ["web"],
      provides: [{ name: "http", type: "http" }],
      consumes: [{ name: "db", type: "database", optional: true }],
    },
    monit: "",
    templates: {},
  };
  const demo = (more: Partial<MadeRelease> = {}): MadeRelease => ({
    name: "demo",
    version: "1.2",
    jobs: { web: JOB },
    packages: {
      golang: { files: { packaging: "true" } },
      web: { dependencies: ["golang"], files: { packaging: "echo web" } },
    },
    ...more,
  });
  async function file(name: string, release: MadeRelease): Promise<string> {
    const path = join(world().dir, name);
    await writeFile(path, await releaseTarball(release));
    return path;
  }
  async function served(path: string): Promise<string> {
    const body = await readFile(path);
    const server = createServer((_, response) => response.end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/release.tgz`;
  }
  const sha1Of = async (path: string) =>
    createHash("sha1")
      .update(await readFile(path))
      .digest("hex");
  const versions = async () =>
    (await world().bosh.rows("releases")).map(({ name, version }) => `${name}/${version}`);

  it("takes one from a file, lists and shows it", async () => {
    const { bosh } = world();
    expect(await bosh.rows("releases")).toEqual([]);
    const said = await bosh.run("upload-release", await file("demo.tgz", demo()));
    expect(said.blocks).toContain("Creating new packages: golang/");
    expect(said.blocks).toContain("Creating new jobs: web/");
    expect(said.blocks).toContain("Release has been created: demo/1.2");
    expect(await bosh.rows("releases")).toEqual([{ name: "demo", version: "1.2", commit_hash: "non-git" }]);
    const { rows } = await bosh.run("inspect-release", "demo/1.2");
    expect(rows).toMatchObject([
      {
        job: expect.stringMatching(/^web\//),
        blobstore_id: expect.stringMatching(/^release-/),
        digest: expect.stringMatching(/^sha256:/),
        links_consumed: expect.stringContaining("database"),
        links_provided: expect.stringContaining("http"),
      },
      { package: expect.stringMatching(/^golang\//), compiled_for: "(source)" },
      { package: expect.stringMatching(/^web\//), compiled_for: "(source)" },
    ]);
  });

  // The CLI asks what is there by the name and version of its flags: a file alone is sent again.
  it("makes nothing anew of a file that it has; one that is named is not even sent", async () => {
    const { bosh, dir } = world();
    const path = join(dir, "demo.tgz");
    const before = await bosh.run("inspect-release", "demo/1.2");
    const again = await bosh.run("upload-release", path);
    expect(again.blocks).toContain("Processing 2 existing packages");
    expect(again.blocks).toContain("Processing 1 existing job");
    expect(again.blocks).not.toContain("Creating new");
    expect((await bosh.run("inspect-release", "demo/1.2")).rows).toEqual(before.rows);
    const named = await bosh.run("upload-release", path, "--name=demo", "--version=1.2");
    expect(named.text).toContain("Release 'demo/1.2' already exists.");
    expect(named.task).toBe("");
    const fixed = await bosh.run("upload-release", path, "--fix");
    expect(fixed.blocks).toContain("Processing 2 existing packages");
    expect(await versions()).toEqual(["demo/1.2"]);
  });

  it("takes another version without the packages that are known, also from a URL of a file", async () => {
    const { bosh } = world();
    const path = await file("demo-2.tgz", demo({ version: "2" }));
    const said = await bosh.run("upload-release", `file://${path}`);
    expect(said.blocks).toContain("Processing 2 existing packages");
    expect(said.blocks).toContain("Processing 1 existing job");
    expect(await versions()).toEqual(["demo/2", "demo/1.2"]);
  });

  it("refuses another content under a version that is there, and --rebase gives it a new one", async () => {
    const { bosh } = world();
    const job = { ...JOB, monit: "# changed" };
    const path = await file("changed.tgz", demo({ version: "2+dev.1", commitHash: "c1" }));
    await bosh.run("upload-release", path);
    const other = await file("other.tgz", demo({ version: "2+dev.1", commitHash: "c1", jobs: { web: job } }));
    expect(await bosh.refused("upload-release", other, "--fix")).toContain(
      "job 'web' had different fingerprint in previously uploaded release 'demo/2+dev.1'",
    );
    const commit = await file("commit.tgz", demo({ version: "2+dev.1", commitHash: "c2" }));
    expect(await bosh.refused("upload-release", commit, "--fix")).toContain(
      "release 'demo/2+dev.1' has already been uploaded with commit_hash as 'c1'",
    );
    expect((await bosh.run("upload-release", other, "--rebase")).blocks).toContain(
      "Release has been created: demo/2+dev.2",
    );
    expect(await versions()).toEqual(["demo/2+dev.2", "demo/2+dev.1", "demo/2", "demo/1.2"]);
  });

  it("fetches one from an address, if its digest is the one that was told, and not twice", async () => {
    const { bosh } = world();
    const path = await file("far.tgz", demo({ name: "far", version: "3" }));
    const url = await served(path);
    expect(await bosh.refused("upload-release", url, `--sha1=${"0".repeat(40)}`)).toMatch(/digest/);
    const said = await bosh.run("upload-release", url, `--sha1=${await sha1Of(path)}`);
    expect(said.blocks).toContain("Downloading remote release");
    expect(said.blocks).toContain("Verifying remote release");
    const again = await bosh.run("upload-release", url, "--name=far", "--version=3");
    expect(again.text).toContain("already exists");
    expect(await versions()).toContain("far/3");
  });

  it("takes compiled ones, for one stemcell and then for another", async () => {
    const { bosh } = world();
    const compiled = (compiledFor: string) => demo({ name: "made", version: "1", compiledFor });
    const said = await bosh.run("upload-release", await file("made.tgz", compiled("jammy/1.1")));
    expect(said.blocks).toContain("Compiled Release has been created: made/1");
    await bosh.run("upload-release", await file("made-2.tgz", compiled("noble/2")), "--stemcell=noble/2");
    const { rows } = await bosh.run("inspect-release", "made/1");
    // The CLI writes a row for the source of each package, also of one that has none.
    expect(
      rows.filter((row) => row.compiled_for === "(source)").map(({ blobstore_id }) => blobstore_id),
    ).toEqual(["", ""]);
    expect(rows.flatMap((row) => row.compiled_for ?? []).sort()).toEqual([
      "(source)",
      "(source)",
      "jammy/1.1",
      "jammy/1.1",
      "noble/2",
      "noble/2",
    ]);
  });

  it("takes what its author has: a directory", async () => {
    const { bosh, dir } = world();
    const source = join(dir, "app");
    await mkdir(source);
    await writeAppRelease(source);
    await bosh.run("create-release", "--force", `--dir=${source}`);
    const said = await bosh.run("upload-release", `--dir=${source}`);
    expect(said.blocks).toContain("Release has been created: app/0+dev.1");
    expect((await bosh.run("upload-release", `--dir=${source}`)).code).toBe(0);
  });

  it("deletes one version, and all of them; what is not there is fine", async () => {
    const { bosh } = world();
    expect((await bosh.run("delete-release", "demo/1.2")).code).toBe(0);
    expect(await versions()).not.toContain("demo/1.2");
    await bosh.run("delete-release", "demo");
    expect((await versions()).filter((one) => one.startsWith("demo/"))).toEqual([]);
    expect((await bosh.run("delete-release", "demo/9")).code).toBe(0);
    await bosh.run("delete-release", "made/1", "--force");
    expect(await versions()).not.toContain("made/1");
    expect((await bosh.run("inspect-release", "far/3")).rows).toHaveLength(3);
  });
});
