import { access, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../testing/run-cli.ts";
import { EVERYTHING, plant } from "./testing/release-tree.ts";

sampleTests(1 / 4);

let dir: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
  await mkdir(join(dir, "home"));
  return () => remove();
});

const at = (...path: readonly string[]) => join(dir, ...path);
const text = (...path: readonly string[]) => readFile(at(...path), "utf8");
const say = (...args: readonly string[]) => runCli(args, { env: { HOME: at("home") } });
const run = async (...args: readonly string[]) => {
  const ran = await say(...args);
  expect(ran).toMatchObject({ code: 0, err: "" });
  return ran.out;
};

describe("a release from nothing", () => {
  it("is made, filled and built", async () => {
    await run("init-release", "--dir", at("shop-release"), "--git");
    expect(await text("shop-release/config/final.yml")).toBe("name: shop\n");
    expect(await text("shop-release/config/blobs.yml")).toBe("--- {}\n");
    expect(await text("shop-release/.gitignore")).toContain("config/private.yml\nblobs\ndev_releases\n");
    await run("generate-job", "web", "--dir", at("shop-release"));
    await run("generate-package", "app", "--dir", at("shop-release"));
    const made = await run(
      "create-release",
      "--force",
      "--dir",
      at("shop-release"),
      "--tarball",
      at("s.tgz"),
    );
    expect(made).toMatch(/^shop\s+\n0\+dev\.1\s+\nempty\+\s+\n/);
    expect(await run("inspect-local-release", at("s.tgz"))).toBe(made);
    const { stdout } = await systemExec("git", ["status", "--short", "--ignored"], {
      cwd: at("shop-release"),
    });
    expect(stdout).toContain("!! .dev_builds/\n!! dev_releases/");
  });

  it("never overwrites what is there", async () => {
    await plant(at("r"), { ...EVERYTHING, ".gitignore": "mine" });
    for (const [args, words] of [
      [["init-release"], "is a release directory already"],
      [["generate-job", "web"], `Job 'web' at '${at("r/jobs/web")}' already exists`],
      [["generate-package", "app"], `Package 'app' at '${at("r/packages/app")}' already exists`],
      [["generate-job", "../x"], "cannot be the name"],
    ] as const) {
      const { code, err } = await say(...args, "--dir", at("r"));
      expect(code).not.toBe(0);
      expect(err).toContain(words);
    }
    await rm(at("r/config"), { recursive: true });
    await run("init-release", "--git", "--dir", at("r"));
    expect(await text("r/.gitignore")).toMatch(/^mine\nconfig\/private\.yml\n/);
  });
});

describe("blobs", () => {
  beforeEach(async () => {
    await plant(at("r"), EVERYTHING);
    await writeFile(at("file"), "a large file\n");
  });

  it("are added, uploaded, fetched again and removed", async () => {
    const of = ["--dir", at("r")];
    await run("add-blob", at("file"), "tool/large", ...of);
    expect(await run("blobs", ...of)).toMatch(/^tool\/large\t13 B\t\(local\)\tsha256:[0-9a-f]{64}\t$/m);
    await run("upload-blobs", ...of);
    expect(await text("r/config/blobs.yml")).toMatch(
      /^tool\/large:\n {2}size: 13\n {2}object_id: [0-9a-f-]{36}\n {2}sha: sha256:[0-9a-f]{64}\n$/,
    );
    const before = await text("r/config/blobs.yml");
    await run("upload-blobs", ...of);
    expect(await text("r/config/blobs.yml")).toBe(before);
    await rm(at("r/blobs"), { recursive: true });
    await run("sync-blobs", ...of);
    expect(await text("r/blobs/tool/large")).toBe("a large file\n");
    // One that was damaged is fetched again, also by create-release.
    await writeFile(at("r/blobs/tool/large"), "damaged\n");
    await run("create-release", ...of);
    expect(await text("r/blobs/tool/large")).toBe("a large file\n");
    await run("remove-blob", "tool/large", ...of);
    expect(await text("r/config/blobs.yml")).toBe("--- {}\n");
    await expect(access(at("r/blobs/tool/large"))).rejects.toThrow();
  });

  it("are not used if their content has changed", async () => {
    const of = ["--dir", at("r")];
    await run("add-blob", at("file"), "large", ...of);
    await run("upload-blobs", ...of);
    const [stored = ""] = await readdir(at("r/stored"));
    await writeFile(at("r/stored", stored), "other bytes\n");
    await rm(at("r/blobs"), { recursive: true });
    const { code, err } = await say("sync-blobs", ...of);
    expect(code).toBe(1);
    expect(err).toContain("blob 'large' cannot be used");
    await expect(access(at("r/blobs/large"))).rejects.toThrow();
  });

  it.each(["../out", "/etc/x", "a/../../x", "", "a//b"])("'%s' is no path for one", async (path) => {
    const { code, err } = await say("add-blob", at("file"), path, "--dir", at("r"));
    expect(code).toBe(2);
    expect(err).toContain("Invalid blob path");
  });

  it("are named in an error if they match a pattern but are not tracked", async () => {
    await plant(at("r"), {
      "blobs/tool/x": "x",
      "packages/tool/spec": "name: tool\nfiles: [tool/*]\n",
      "packages/tool/packaging": "",
    });
    expect((await say("create-release", "--dir", at("r"))).err).toContain("blobs/tool/x is not tracked");
  });

  it("are forgotten with the dev releases, after a question where they are nowhere else", async () => {
    const of = ["--dir", at("r")];
    await run("add-blob", at("file"), "large", ...of);
    await run("create-release", ...of);
    expect((await say("reset-release", ...of)).code).not.toBe(0);
    await run("reset-release", "-n", ...of);
    expect((await readdir(at("r"))).sort()).toEqual(
      ["LICENSE", "LICENSE.third-party", "NOTICE", "config", "jobs", "packages", "src"].sort(),
    );
  });
});

describe("a package of another release", () => {
  beforeEach(async () => {
    await plant(at("from"), EVERYTHING);
    await plant(at("to"), {
      "config/final.yml": `name: to\nblobstore:\n  provider: local\n  options:\n    blobstore_path: ${at("kept")}\n`,
      "config/blobs.yml": "--- {}\n",
    });
  });

  it("is vendored with what it is compiled with, under a prefix too", async () => {
    await run("create-release", "--dir", at("from"));
    await run("vendor-package", "app", at("from"), "--dir", at("to"));
    await run("vendor-package", "app", at("from"), "--dir", at("to"), "--prefix", "other");
    expect((await readdir(at("to/packages"))).sort()).toEqual([
      "app",
      "base",
      "lib",
      "other-app",
      "other-base",
      "other-lib",
    ]);
    expect(await text("to/packages/other-app/spec.lock")).toMatch(
      /^name: other-app\nfingerprint: [0-9a-f]{64}\ndependencies:\n- other-lib\n- other-base\n$/,
    );
    // On another machine: from the blobstore.
    await rm(at("home"), { recursive: true });
    const made = await run("create-release", "--dir", at("to"), "--tarball", at("to.tgz"));
    expect(await run("inspect-local-release", at("to.tgz"))).toBe(made);
    // A newer one replaces it.
    await writeFile(at("from/src/lib/a.c"), "newer\n");
    await run("create-release", "--dir", at("from"));
    const before = await text("to/packages/lib/spec.lock");
    await run("vendor-package", "app", at("from"), "--dir", at("to"));
    expect(await text("to/packages/lib/spec.lock")).not.toBe(before);
  });

  it("is refused where it would replace your own, or is not there", async () => {
    expect((await say("vendor-package", "app", at("from"), "--dir", at("to"))).err).toContain(
      "at least one dev or final version",
    );
    await run("create-release", "--dir", at("from"));
    expect((await say("vendor-package", "none", at("from"), "--dir", at("to"))).err).toContain(
      "Expected to find package 'none'",
    );
    await plant(at("to"), { "packages/lib/spec": "name: lib\n", "packages/lib/packaging": "" });
    expect((await say("vendor-package", "app", at("from"), "--dir", at("to"))).err).toContain(
      "Package 'lib' at",
    );
    expect(await readdir(at("to/packages"))).toEqual(["lib"]);
  });
});

describe("a tarball", () => {
  it("becomes a final release, and is found again on another machine", async () => {
    await plant(at("r"), EVERYTHING);
    await run("create-release", "--dir", at("r"), "--tarball", at("dev.tgz"));
    const final = await run("finalize-release", at("dev.tgz"), "--dir", at("r"), "--version", "1.5");
    expect(final).toMatch(/^everything\s+\n1\.5\s+\n/);
    await rm(at("home"), { recursive: true });
    await rm(at("r/.dev_builds"), { recursive: true });
    const file = at("r/releases/everything/everything-1.5.yml");
    const again = await run("create-release", file, "--dir", at("r"), "--tarball", at("final.tgz"));
    expect(await run("inspect-local-release", at("final.tgz"))).toBe(again);
    const { err } = await say("finalize-release", at("dev.tgz"), "--dir", at("r"), "--version", "1.5");
    expect(err).toContain("Release 'everything' version '1.5' already exists");
    expect((await run("finalize-release", at("dev.tgz"), "--dir", at("r"))).split("\n")[1]?.trim()).toBe(
      "1.6",
    );
  });

  it("is refused if it is not gzip or does not exist", async () => {
    await writeFile(at("x.tgz"), "no gzip");
    expect((await say("inspect-local-release", at("x.tgz"))).err).toContain("not gzip");
    expect((await say("inspect-local-release", at("none.tgz"))).code).toBe(2);
  });
});
