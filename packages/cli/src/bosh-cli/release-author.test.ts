import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EVERYTHING, plant } from "../releases/testing/release-tree.ts";
import { runCli } from "../testing/run-cli.ts";

const bosh = process.env.SLIPWAY_BOSH ?? "";

describe.runIf(needs("bosh-cli", bosh !== "", "`npm run test:bosh-cli` brings it"))(
  "a release directory that the real CLI and ours work in",
  () => {
    let dir: string;
    let remove: () => Promise<void>;
    let env: Record<string, string>;
    beforeEach(async () => {
      ({ path: dir, remove } = await temporaryDirectory());
      env = { HOME: join(dir, "home") };
      await mkdir(join(dir, "home"));
      await writeFile(join(dir, "large"), "x".repeat(12_345));
    });
    afterEach(() => remove());

    type Cli = (...args: readonly string[]) => Promise<unknown>;
    const theirs: Cli = async (...args) => {
      const { code, stdout, stderr } = await systemExec(bosh, [...args, "--json"], { env });
      expect(`${code} ${code === 0 ? "" : stdout}${stderr}`).toBe("0 ");
      return without(JSON.parse(stdout) as { Lines: string[] });
    };
    const ours: Cli = async (...args) => {
      const { code, out, err } = await runCli([...args, "--json"], { env });
      expect(`${code} ${code === 0 ? "" : out}${err}`).toBe("0 ");
      return without(JSON.parse(out) as { Lines: string[] });
    };
    /** Theirs also tells of each step. */
    const without = (printed: { Lines: readonly string[] }) => ({
      ...printed,
      Lines: printed.Lines.filter((line) => !line.endsWith("\n")),
    });
    const tree = async (of: string) => {
      const entries = await readdir(join(dir, of), { recursive: true, withFileTypes: true });
      const files = entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
      return Object.fromEntries(
        await Promise.all(
          files
            .filter((file) => !file.includes("/.git/"))
            .sort()
            .map(async (file) => [file.slice(join(dir, of).length), await readFile(file, "utf8")] as const),
        ),
      );
    };

    it("is begun in the same way, file for file", async () => {
      for (const [cli, of] of [
        [theirs, "a/shop-release"],
        [ours, "b/shop-release"],
      ] as const) {
        const to = ["--dir", join(dir, of)];
        await mkdir(join(dir, of), { recursive: true });
        await cli("init-release", "--git", ...to);
        await cli("generate-job", "web", ...to);
        await cli("generate-package", "app", ...to);
        await cli("add-blob", join(dir, "large"), "tool/large", ...to);
      }
      expect(await tree("b/shop-release")).toEqual(await tree("a/shop-release"));
    });

    it.each([
      ["theirs", "ours", theirs, ours],
      ["ours", "theirs", ours, theirs],
    ])("has blobs that %s adds and uploads, and %s shows, fetches and removes", async (_, __, one, other) => {
      await plant(join(dir, "r"), EVERYTHING);
      const of = ["--dir", join(dir, "r")];
      await one("add-blob", join(dir, "large"), "tool/large", ...of);
      expect(await other("blobs", ...of)).toEqual(await one("blobs", ...of));
      await one("upload-blobs", ...of);
      await rm(join(dir, "r/blobs"), { recursive: true });
      await other("sync-blobs", ...of);
      expect(await readFile(join(dir, "r/blobs/tool/large"), "utf8")).toHaveLength(12_345);
      expect(await other("blobs", ...of)).toEqual(await one("blobs", ...of));
      await other("remove-blob", "tool/large", ...of);
      expect(await one("blobs", ...of)).toEqual(await other("blobs", ...of));
    });

    it.each([
      ["theirs", "ours", theirs, ours],
      ["ours", "theirs", ours, theirs],
    ])("has a package that %s vendors and %s builds with", async (_, __, one, other) => {
      await plant(join(dir, "from"), EVERYTHING);
      await plant(join(dir, "to"), {
        "config/final.yml": `name: to\nblobstore:\n  provider: local\n  options:\n    blobstore_path: ${join(dir, "kept")}\n`,
        "config/blobs.yml": "--- {}\n",
      });
      await one("create-release", "--dir", join(dir, "from"));
      await one("vendor-package", "app", join(dir, "from"), "--dir", join(dir, "to"));
      await rm(join(dir, "home"), { recursive: true });
      await mkdir(join(dir, "home"));
      await other("create-release", "--dir", join(dir, "to"), "--tarball", join(dir, "to.tgz"));
      expect(await other("inspect-local-release", join(dir, "to.tgz"))).toEqual(
        await one("inspect-local-release", join(dir, "to.tgz")),
      );
    });

    it("has vendored packages under a prefix, the same with both", async () => {
      await plant(join(dir, "from"), EVERYTHING);
      await theirs("create-release", "--dir", join(dir, "from"));
      for (const [cli, of] of [
        [theirs, "a"],
        [ours, "b"],
      ] as const) {
        await plant(join(dir, of), {
          "config/final.yml": `name: to\nblobstore:\n  provider: local\n  options:\n    blobstore_path: ${join(dir, of, "kept")}\n`,
          "config/blobs.yml": "--- {}\n",
        });
        const where = ["--dir", join(dir, of), "--prefix", "shop"];
        await cli("vendor-package", "app", join(dir, "from"), ...where);
      }
      const packages = await readdir(join(dir, "a/packages"));
      expect(packages).toContain("shop-app");
      expect(await readdir(join(dir, "b/packages"))).toEqual(packages);
    });

    it("has a tarball whose digests both change in the same way", async () => {
      await plant(join(dir, "r"), EVERYTHING);
      await ours("create-release", "--dir", join(dir, "r"), "--tarball", join(dir, "dev.tgz"));
      for (const [how, from] of [
        ["sha1ify-release", "dev"],
        ["sha2ify-release", "to"],
      ] as const) {
        const told = [];
        for (const cli of [theirs, ours]) {
          await cli(how, join(dir, `${from}.tgz`), join(dir, "made.tgz"));
          told.push(await theirs("inspect-local-release", join(dir, "made.tgz")));
        }
        expect(told[1]).toEqual(told[0]);
        await rename(join(dir, "made.tgz"), join(dir, "to.tgz"));
      }
    });

    it.each([
      ["theirs", "ours", theirs, ours],
      ["ours", "theirs", ours, theirs],
    ])("has a tarball of %s that %s makes final", async (_, __, one, other) => {
      await plant(join(dir, "r"), EVERYTHING);
      await one("create-release", "--dir", join(dir, "r"), "--tarball", join(dir, "dev.tgz"));
      await other("finalize-release", join(dir, "dev.tgz"), "--dir", join(dir, "r"));
      const again = (await one("create-release", "--final", "--dir", join(dir, "r"))) as {
        readonly Tables: readonly { readonly Rows: readonly { readonly version: string }[] }[];
      };
      expect(again.Tables[0]?.Rows[0]?.version).toBe("2");
      // Nothing was uploaded twice: five packages, two jobs and the license are there once.
      expect(await readdir(join(dir, "r/stored"))).toHaveLength(8);
      const under = ["--name", "shop", "--version", "7", "--force", "--dir", join(dir, "r")];
      const named = (await other("finalize-release", join(dir, "dev.tgz"), ...under)) as typeof again;
      expect(named.Tables[0]?.Rows[0]).toMatchObject({ name: "shop", version: "7" });
      expect(await readdir(join(dir, "r/releases/shop"))).toContain("shop-7.yml");
    });
  },
);
