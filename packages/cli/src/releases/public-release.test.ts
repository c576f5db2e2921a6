import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { DAV_USER, davServer, PUBLIC_BUCKET, S3_KEY, s3Server } from "@slipway/testkit/blob-servers";
import { needs } from "@slipway/testkit/needs";
import { programAvailable } from "@slipway/testkit/server-program";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../testing/run-cli.ts";
import { EVERYTHING, plant } from "./testing/release-tree.ts";

let dir: string;
beforeEach(async () => {
  const { path, remove } = await temporaryDirectory();
  dir = path;
  return () => remove();
});

const at = (...path: readonly string[]) => join(dir, ...path);
const say = (home: string, ...args: readonly string[]) => runCli(args, { env: { HOME: at(home) } });
const run = async (home: string, ...args: readonly string[]) => {
  const ran = await say(home, ...args);
  expect(ran).toMatchObject({ code: 0, err: "" });
  return ran.out;
};
const git = async (...args: readonly string[]) => {
  const own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
  const { code, stderr } = await systemExec("git", [...own, ...args], { cwd: dir });
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
};

/** Makes a release with a blob and a final version, and clones it as somebody without credentials. */
async function published(blobstore: object, secret: object): Promise<void> {
  await plant(at("origin"), {
    ...EVERYTHING,
    "config/final.yml": `${JSON.stringify({ name: "everything", blobstore })}\n`,
    "config/private.yml": `${JSON.stringify({ blobstore: { options: secret } })}\n`,
    ".gitignore": "config/private.yml\nblobs\ndev_releases\n.dev_builds\n",
    "packages/lib/spec": "---\nname: lib\nfiles: [tool/large]\n",
  });
  await writeFile(at("large"), "a large file\n");
  const of = ["--dir", at("origin")];
  await run("author", "add-blob", at("large"), "tool/large", ...of);
  await run("author", "upload-blobs", ...of);
  await run("author", "create-release", "--force", "--final", "--version", "1", ...of);
  await git("init", "--quiet", "origin");
  await git("-C", "origin", "add", "--all");
  await git("-C", "origin", "commit", "--quiet", "--message", "final release 1");
  await git("clone", "--quiet", "origin", "clone");
}

/** Removes what makes a package out of its source, so that only its final build is left. */
const withoutScript = (name: string) => rm(at("clone/packages", name, "pre_packaging"), { force: true });

describe.runIf(needs("seaweedfs", programAvailable("weed"), "there is no `weed` in the PATH"))(
  "a clone of a release whose blobs are in a public S3 bucket",
  () => {
    const server = s3Server();
    const blobstore = () => ({
      provider: "s3",
      options: { bucket_name: PUBLIC_BUCKET, host: "127.0.0.1", port: server().port, use_ssl: false },
    });

    it("is built from the final builds, without credentials, byte by byte as its author did", async () => {
      await published(blobstore(), S3_KEY);
      await run("author", "create-release", "--dir", at("origin"), "--tarball", at("a.tgz"));
      await run("user", "create-release", "--dir", at("clone"), "--tarball", at("b.tgz"));
      expect((await readFile(at("a.tgz"))).equals(await readFile(at("b.tgz")))).toBe(true);
      // Nothing was built: all came from the bucket.
      expect(await readdir(at("clone"))).not.toContain(".dev_builds");
      expect(await readFile(at("clone/blobs/tool/large"), "utf8")).toBe("a large file\n");
      await run(
        "user2",
        "create-release",
        at("clone/releases/everything/everything-1.yml"),
        "--dir",
        at("clone"),
        "--tarball",
        at("c.tgz"),
      );
      const { code, err } = await say("user", "create-release", "--final", "--dir", at("clone"), "--force");
      // All its archives are in the bucket, so that nothing had to be written.
      expect({ code, err }).toEqual({ code: 0, err: "" });
    });

    it("cannot be changed by somebody without credentials", async () => {
      await published(blobstore(), S3_KEY);
      await writeFile(at("clone/src/app/new"), "new\n");
      const { code, err } = await say("user", "create-release", "--final", "--force", "--dir", at("clone"));
      expect(code).toBe(1);
      expect(err).toContain("there are no credentials to write with");
    });
  },
);

describe.runIf(needs("nginx", programAvailable("nginx"), "there is no `nginx` in the PATH"))(
  "a clone of a release whose blobs are in a DAV server",
  () => {
    const server = davServer();
    const blobstore = () => ({ provider: "dav", options: { endpoint: `${server().url}/public` } });

    it("is built without a password, and from source where a final build is gone", async () => {
      await published(blobstore(), DAV_USER);
      const index = at("clone/.final_builds/packages/app/index.yml");
      const lost = (await readFile(index, "utf8")).replace(/blobstore_id: [0-9a-f]/, "blobstore_id: x");
      await writeFile(index, lost);
      const { code, err } = await say("user", "create-release", "--force", "--dir", at("clone"));
      expect(code).toBe(0);
      expect(err).toMatch(
        /^Built from source: package 'app'\. Their final builds cannot be fetched from http:\/\/127\.0\.0\.1:\d+\/public: the server answered 404\n$/,
      );
      expect(await readdir(at("clone/.dev_builds/packages"))).toEqual(["app"]);
    });
  },
);

describe("a clone of a release whose blobstore cannot be reached", () => {
  it("is built from source, which is said in one line", async () => {
    await published({ provider: "local", options: { blobstore_path: at("stored") } }, {});
    await writeFile(at("clone/config/blobs.yml"), "--- {}\n");
    await writeFile(at("clone/packages/lib/spec"), "---\nname: lib\nfiles: []\n");
    const options = { bucket_name: "b", host: "127.0.0.1", port: 9, use_ssl: false };
    const final = { name: "everything", blobstore: { provider: "s3", options } };
    await writeFile(at("clone/config/final.yml"), JSON.stringify(final));
    await withoutScript("none");
    const { code, err } = await say("user", "create-release", "--force", "--dir", at("clone"));
    expect(code).toBe(0);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).toMatch(
      /^Built from source: .* and \d+ more\. Their final builds cannot be fetched from bucket 'b'/,
    );
    expect(err).toContain("ECONNREFUSED");
  });

  it("is refused where a vendored package has no source", async () => {
    await published({ provider: "local", options: { blobstore_path: at("stored") } }, {});
    const index = await readFile(at("clone/.final_builds/packages/base/index.yml"), "utf8");
    const fingerprint = /version: (\S+)/.exec(index)?.[1] ?? "";
    await rm(at("clone/packages/base"), { recursive: true });
    await plant(at("clone"), {
      "packages/base/spec.lock": `name: base\nfingerprint: ${fingerprint}\n`,
    });
    await rm(at("stored"), { recursive: true });
    await writeFile(at("clone/config/blobs.yml"), "--- {}\n");
    await writeFile(at("clone/packages/lib/spec"), "---\nname: lib\nfiles: []\n");
    const { code, err } = await say("user", "create-release", "--force", "--dir", at("clone"));
    expect(code).toBe(1);
    expect(err).toContain("cannot be fetched from");
  });
});
