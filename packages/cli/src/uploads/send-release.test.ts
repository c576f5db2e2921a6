import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unpackRelease } from "@slipway/engine/releases/archive";
import { systemExec } from "@slipway/kernel/exec";
import { releaseTarball } from "@slipway/testkit/release-tarball";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plant } from "../releases/testing/release-tree.ts";
import type { FakeDirector } from "../testing/fake-director.ts";
import { startLab } from "../testing/lab.ts";
import { runCli } from "../testing/run-cli.ts";

let lab: FakeDirector;
beforeEach(async () => {
  lab = await startLab();
  await mkdir(lab.file("home"));
});
afterEach(() => lab.close());

const run = (...argv: readonly string[]) =>
  runCli(["-n", ...argv], {
    env: {
      ...{ BOSH_ENVIRONMENT: lab.url, BOSH_CA_CERT: lab.ca, BOSH_CLIENT: "admin", BOSH_CLIENT_SECRET: "s" },
      ...{ HOME: lab.file("home"), PATH: process.env.PATH ?? "" },
    },
  });

const packages = {
  go: { files: { packaging: "true" }, fingerprint: "f-go" },
  web: { dependencies: ["go"], files: { packaging: "echo web" }, fingerprint: "f-web" },
};

async function tarball(compiledFor?: string): Promise<string> {
  const path = lab.file("r.tgz");
  const compiled = compiledFor === undefined ? {} : { compiledFor };
  await writeFile(path, await releaseTarball({ name: "r", version: "1", jobs: {}, packages, ...compiled }));
  return path;
}

/** Returns the release that the Director received, and the packages in it. */
async function sent() {
  const uploads = lab.seen.filter(({ method, url }) => method === "POST" && url.startsWith("/releases"));
  expect(uploads).toHaveLength(1);
  const [upload] = uploads;
  expect(upload?.headers["content-type"]).toBe("application/x-compressed");
  const bytes = upload?.bytes ?? new Uint8Array();
  await writeFile(lab.file("sent.tgz"), bytes);
  await mkdir(lab.file("sent"));
  const { release, packages: found } = await unpackRelease(lab.file("sent.tgz"), lab.file("sent"));
  const inside = found.filter(({ file }) => file !== undefined).map(({ name }) => name);
  return {
    bytes,
    release: `${release.name}/${release.version}`,
    named: found.map(({ name }) => name),
    inside,
  };
}

describe("upload-release", () => {
  it.each([
    ["sources", undefined, "/packages/matches"],
    ["compiled packages", "jammy/1", "/packages/matches_compiled"],
  ])("leaves out the %s that the Director has", async (_, compiledFor, path) => {
    lab.json(`POST ${path}`, ["f-go"]);
    expect(await run("upload-release", await tarball(compiledFor))).toMatchObject({ code: 0, err: "" });
    const asked = lab.seen.find(({ url }) => url === path);
    expect(asked?.headers["content-type"]).toBe("text/yaml");
    expect(asked?.body).toContain("f-go");
    expect(await sent()).toMatchObject({ release: "r/1", named: ["go", "web"], inside: ["web"] });
  });

  it("sends a file as it is where the Director has nothing of it, or cannot say", async () => {
    lab.on("POST /packages/matches", { status: 500, body: "broken" });
    const path = await tarball();
    expect((await run("upload-release", `file://${path}`)).code).toBe(0);
    expect(Buffer.from((await sent()).bytes)).toEqual(await readFile(path));
  });

  it("sends all of it with --fix, unasked", async () => {
    lab.json("POST /packages/matches", ["f-go", "f-web"]);
    expect((await run("upload-release", await tarball(), "--fix", "--rebase")).code).toBe(0);
    expect(lab.asked("POST")).toEqual(["/releases?fix=true&rebase=true"]);
    expect((await sent()).inside).toEqual(["go", "web"]);
  });

  it("sends nothing where the release that is named is there for the stemcell", async () => {
    lab.json("GET /releases/r", {
      jobs: [],
      packages: [{ name: "go", compiled_packages: [{ stemcell: "jammy/1" }] }],
    });
    lab.json("GET /releases", [{ name: "r", release_versions: [{ version: "1" }] }]);
    const path = await tarball();
    const named = ["upload-release", path, "--name=r", "--version=1"];
    expect((await run(...named, "--stemcell=jammy/1")).out).toContain(
      "Release 'r/1' for stemcell 'jammy/1' already exists.",
    );
    expect(lab.asked("POST")).toEqual([]);
    // Its source is not.
    expect((await run(...named)).code).toBe(0);
    expect((await sent()).release).toBe("r/1");
  });

  it("sends the last release of a directory, or the one of a version", async () => {
    const dir = lab.file("src");
    await plant(dir, {
      "config/final.yml": "name: app\n",
      "packages/app/spec": "---\nname: app\nfiles: []\n",
      "packages/app/packaging": "true\n",
    });
    expect((await run("upload-release", "--dir", dir)).err).toContain("at least one dev or final version");
    for (const version of ["1", "2"]) await run("create-release", "--dir", dir, "--version", version);
    expect((await run("upload-release", "--dir", dir)).code).toBe(0);
    expect(await sent()).toMatchObject({ release: "app/2", inside: ["app"] });
    lab.seen.length = 0;
    expect((await run("upload-release", "--dir", dir, "--version", "1", "--rebase")).code).toBe(0);
    expect(lab.asked("POST").at(-1)).toBe("/releases?rebase=true");
  });

  it("clones a repository, and sends the last release in it", async () => {
    const dir = lab.file("repository");
    await plant(dir, {
      "config/final.yml":
        "name: app\nblobstore:\n  provider: local\n  options:\n    blobstore_path: stored\n",
      "packages/app/spec": "---\nname: app\nfiles: []\n",
      "packages/app/packaging": "true\n",
    });
    await run("create-release", "--dir", dir, "--final", "--version", "1", "--force");
    const git = (...args: readonly string[]) =>
      systemExec("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: dir });
    await git("init", "--quiet");
    await git("add", "config", "packages", "releases", ".final_builds", "stored");
    expect((await git("commit", "--quiet", "-m", "one")).code).toBe(0);
    const said = await run("upload-release", `git+file://${dir}`);
    expect(said).toMatchObject({ code: 0, err: "" });
    expect(await sent()).toMatchObject({ release: "app/1", inside: ["app"] });
    expect((await run("upload-release", `git+file://${join(dir, "none")}`)).err).toContain(
      "Cloning git repo",
    );
  });

  it("is done by a deploy, too: of a release that is to be created, whose version it then deploys", async () => {
    const dir = lab.file("src");
    await plant(dir, {
      "config/final.yml": "name: other\n",
      "packages/app/spec": "---\nname: app\nfiles: []\n",
      "packages/app/packaging": "true\n",
    });
    lab.json("GET /configs", []).json("POST /deployments/shop/diff", { diff: [], context: {} });
    lab.task("POST /deployments", 230, {});
    const manifest = lab.file("shop.yml");
    await writeFile(
      manifest,
      `{name: shop, releases: [{name: app, version: create, url: "file://${dir}"}, {name: b, version: 1}]}`,
    );
    expect(await run("-d", "shop", "deploy", manifest)).toMatchObject({ code: 0, err: "" });
    const { release } = await sent();
    expect(release).toMatch(/^app\/0\+dev\.\d{10}$/);
    const posted = lab.seen.find(({ method, url }) => method === "POST" && url.startsWith("/deployments?"));
    expect(posted?.body).toContain(`version: "${release.slice(4)}"`);
    expect(posted?.body).not.toContain("url");
  });

  it("says what is wrong with a path", async () => {
    expect(await run("upload-release", lab.file("none.tgz"))).toMatchObject({
      code: 2,
      err: expect.stringContaining("none.tgz"),
    });
  });
});

describe("releases of a Director", () => {
  it("are named by name and version", async () => {
    for (const slug of ["shop", "shop/", "/1", "a/b/c"])
      expect((await run("inspect-release", slug)).err).toContain("name/version");
    expect((await run("delete-release", "a/b/c")).err).toContain("name/version");
  });

  it("are not deleted if they do not exist, which is no error", async () => {
    expect(await run("delete-release", "none/1")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Release 'none/1' does not exist."),
    });
    expect(lab.asked("DELETE")).toEqual([]);
  });

  it("are deleted where a failure left nothing of them", async () => {
    let listed = 0;
    lab.on("GET /releases", () => ({
      body: JSON.stringify(listed++ === 0 ? [{ name: "shop", release_versions: [{ version: "1" }] }] : []),
    }));
    lab.on("DELETE /releases/shop", { status: 404, body: "gone" });
    expect((await run("delete-release", "shop/1")).code).toBe(0);
    lab.json("GET /releases", [{ name: "shop", release_versions: [{ version: "1" }] }]);
    expect((await run("delete-release", "shop/1")).code).toBe(1);
  });
});
