import { cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unpackRelease } from "@slipway/engine/releases/archive";
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

const create = (of: string, ...args: readonly string[]) =>
  runCli(["create-release", "--dir", join(dir, of), ...args], { env: { HOME: join(dir, "home") } });

async function unpacked(tarball: string) {
  const to = join(dir, `${tarball}-unpacked`);
  await mkdir(to);
  return await unpackRelease(join(dir, tarball), to);
}

const listed = async (file: string) =>
  (await systemExec("tar", ["-tf", file])).stdout.split("\n").filter((line) => line !== "");

describe("create-release", () => {
  it("makes a tarball that a Director takes apart, of the same bytes each time", async () => {
    await plant(join(dir, "one"), EVERYTHING);
    await cp(join(dir, "one"), join(dir, "two"), { recursive: true, verbatimSymlinks: true });
    const made = await create("one", "--tarball", join(dir, "one.tgz"));
    expect(made).toMatchObject({ code: 0, err: "" });
    await rm(join(dir, "home"), { recursive: true });
    expect((await create("two", "--tarball", join(dir, "two.tgz"))).code).toBe(0);
    expect(await readFile(join(dir, "one.tgz"))).toEqual(await readFile(join(dir, "two.tgz")));
    const { release, jobs, packages } = await unpacked("one.tgz");
    expect(release).toMatchObject({ name: "everything", version: "0+dev.1", commitHash: "non-git" });
    expect(jobs.map(({ name }) => name)).toEqual(["idle", "web"]);
    expect(jobs[1]?.templates.get("shared")?.toString()).toBe("c\n");
    const file = (name: string) => packages.find((one) => one.name === name)?.file ?? "";
    expect(await listed(file("app"))).toEqual([
      "app/",
      "app/.hidden",
      "app/deep/",
      "app/deep/er/",
      "app/deep/er/.dots/",
      "app/deep/er/.dots/file",
      expect.any(String),
      expect.any(String),
      "app/directory-link",
      "app/link",
      "app/lost",
      "app/main.sh",
      "app/skip/",
      "app/skip/not-me",
      "packaging",
    ]);
    // What pre_packaging makes is in it, itself is not.
    expect(await listed(file("made"))).toEqual(["generated/", "generated/copy", "packaging"]);
    // no_compression
    expect((await readFile(file("whole"))).toString("latin1", 257, 262)).toBe("ustar");
    expect(await listed(join(dir, "one.tgz"))).toEqual([
      "release.MF",
      "jobs/",
      "jobs/idle.tgz",
      "jobs/web.tgz",
      "packages/",
      ...["app", "base", "lib", "made", "whole"].map((name) => `packages/${name}.tgz`),
      "license.tgz",
      "LICENSE",
      "LICENSE.third-party",
      "NOTICE",
    ]);
  });

  it("leaves the release uncompressed where config/final.yml says so", async () => {
    await plant(join(dir, "plain"), {
      ...EVERYTHING,
      "config/final.yml": "name: plain\nno_compression: true\n",
    });
    expect((await create("plain", "--tarball", join(dir, "plain.tar"))).code).toBe(0);
    expect((await readFile(join(dir, "plain.tar"))).toString("latin1", 257, 262)).toBe("ustar");
    expect((await unpacked("plain.tar")).release.name).toBe("plain");
  });

  it("builds again what the cache has lost", async () => {
    await plant(join(dir, "r"), EVERYTHING);
    const first = await create("r");
    await rm(join(dir, "home"), { recursive: true });
    const second = await create("r");
    expect(second.code).toBe(0);
    expect(second.out.replace("dev.2", "dev.1")).toBe(first.out);
  });

  it("takes a blob where src has no file of its name, and only blobs that are tracked", async () => {
    await plant(join(dir, "r"), {
      "config/final.yml": "name: r\n",
      "config/blobs.yml": "tool/a:\n  size: 2\n  sha: sha256:x\ntool/b:\n  size: 2\n  sha: sha256:x\n",
      "src/tool/a": "src\n",
      "blobs/tool/a": "blob\n",
      "blobs/tool/b": "blob\n",
      "blobs/tool/forgotten": "blob\n",
      "packages/tool/spec": "name: tool\nfiles: [tool/*]\n",
      "packages/tool/packaging": "true\n",
    });
    expect(await create("r", "--tarball", join(dir, "r.tgz"))).toMatchObject({ code: 0, err: "" });
    const [tool] = (await unpacked("r.tgz")).packages;
    expect(await listed(tool?.file ?? "")).toEqual(["packaging", "tool/", "tool/a", "tool/b"]);
    const { stdout } = await systemExec("tar", ["-xOf", tool?.file ?? "", "tool/a"]);
    expect(stdout).toBe("src\n");
    expect((await stat(join(dir, "r/blobs/tool/forgotten"))).isFile()).toBe(true);
  });

  it("tells all mistakes of the source at once, and builds nothing", async () => {
    await plant(join(dir, "r"), {
      ...EVERYTHING,
      "jobs/other-name/spec": "name: another\n",
      "jobs/needy/spec": "name: needy\ntemplates: {none.erb: x}\n",
      "jobs/greedy/spec": "name: greedy\npackages: [nowhere]\n",
      "packages/lost/spec": "name: lost\nfiles: [nothing/*]\n",
      "packages/lost/packaging": "true\n",
      "packages/hollow/spec": "name: hollow\n",
      "packages/locked/spec.lock": "name: locked\nfingerprint: abc\ndependencies: [gone]\n",
      "packages/../packages/evil/spec": "name: ../evil\n",
    });
    const { code, err } = await create("r");
    expect(code).toBe(1);
    for (const words of [
      "jobs/other-name: Job directory 'other-name' does not match job name 'another' in spec",
      "jobs/needy: it has no templates/none.erb, which its spec names",
      "Expected to find package 'nowhere' since it's a dependency of job 'greedy'",
      "packages/lost: Missing files for pattern 'nothing/*'",
      "packages/hollow: Expected to find",
      "Expected to find package 'gone' since it's a dependency of package 'locked'",
      "packages/evil: spec",
    ])
      expect(err).toContain(words);
    expect(await stat(join(dir, "r/.dev_builds")).catch(() => "none")).toBe("none");
  });

  it("says where the archive of a vendored package should be", async () => {
    await plant(join(dir, "r"), {
      ...EVERYTHING,
      "packages/locked/spec.lock": "name: locked\nfingerprint: abc\n",
    });
    const { code, err } = await create("r");
    expect(code).toBe(1);
    expect(err).toContain("Expected to find 'locked/abc': no index has it");
  });

  it.each([
    [["--version", "not a version"], 2, "not in the format of versions"],
    [["--version", "0+dev.1"], 1, "Release 'everything' version '0+dev.1' already exists"],
    [["--tarball", "/no/such/directory/x.tgz"], 1, "its directory does not exist"],
    [["releases/none.yml"], 1, "there is no such file"],
  ])("%j is refused", async (args, code, words) => {
    await plant(join(dir, "r"), EVERYTHING);
    expect((await create("r")).code).toBe(0);
    const refused = await create("r", ...args);
    expect(refused.code).toBe(code);
    expect(refused.err).toContain(words);
  });

  it("is refused outside a release directory, and for a final release without a blobstore", async () => {
    await mkdir(join(dir, "empty"));
    expect((await create("empty")).err).toContain("Expected non-empty 'name' in config");
    await plant(join(dir, "r"), { ...EVERYTHING, "config/final.yml": "name: r\n" });
    expect((await create("r", "--final")).err).toContain("Expected non-empty 'blobstore.provider'");
    await writeFile(join(dir, "r/config/final.yml"), "name: r\nblobstore: {provider: s3}\n");
    expect((await create("r", "--final")).err).toContain("bucket_name");
    await writeFile(join(dir, "r/config/final.yml"), "name: r\nblobstore: {provider: swift}\n");
    expect((await create("r", "--final")).err).toContain("no provider 'swift'");
  });
});
