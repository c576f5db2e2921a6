import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EVERYTHING, plant } from "../releases/testing/release-tree.ts";
import { runCli } from "../testing/run-cli.ts";

const bosh = process.env.SLIPWAY_BOSH ?? "";

interface Printed {
  readonly Tables: readonly { readonly Rows: readonly Readonly<Record<string, string>>[] }[] | null;
  readonly Lines: readonly string[];
}

describe.runIf(needs("bosh-cli", bosh !== "", "`npm run test:bosh-cli` brings it"))(
  "create-release of the real CLI and of ours",
  () => {
    let dir: string;
    let remove: () => Promise<void>;
    let env: Record<string, string>;
    beforeEach(async () => {
      ({ path: dir, remove } = await temporaryDirectory());
      env = { HOME: join(dir, "home") };
      await mkdir(join(dir, "home"));
      await plant(join(dir, "release"), EVERYTHING);
      await cp(join(dir, "release"), join(dir, "other"), { recursive: true, verbatimSymlinks: true });
    });
    afterEach(() => remove());

    /** Both print the same tables and lines, but for digests and paths. */
    const theirs = async (of: string, ...args: readonly string[]): Promise<Printed> => {
      const argv = ["create-release", "--dir", join(dir, of), "--json", ...args];
      const { code, stdout, stderr } = await systemExec(bosh, argv, { env });
      expect(`${code} ${code === 0 ? "" : stdout}${stderr}`).toBe("0 ");
      return JSON.parse(stdout) as Printed;
    };
    const ours = async (of: string, ...args: readonly string[]): Promise<Printed> => {
      const argv = ["create-release", "--dir", join(dir, of), "--json", ...args];
      const { code, out, err } = await runCli(argv, { env });
      expect(`${code} ${code === 0 ? "" : out}${err}`).toBe("0 ");
      return JSON.parse(out) as Printed;
    };
    const withoutDigests = (printed: Printed) => ({
      ...printed,
      // What theirs adds side by side has no order.
      Lines: printed.Lines.filter((line) => !line.endsWith("\n")),
      Tables: printed.Tables?.map(({ Rows, ...rest }) => ({
        ...rest,
        Rows: Rows.map((row) => ({ ...row, ...(row.digest !== undefined && { digest: "?" }) })),
      })),
    });
    const manifest = async (of: string, file: string) => await readFile(join(dir, of, file), "utf8");

    it("give the same fingerprints, versions and output", async () => {
      const [first, second] = [await theirs("release"), await ours("other")];
      expect(withoutDigests(second)).toEqual(withoutDigests(first));
      const license = (text: string) => /license:\n {2}version: \w+/.exec(text)?.[0];
      const file = "dev_releases/everything/everything-0+dev.1.yml";
      expect(license(await manifest("other", file))).toBe(license(await manifest("release", file)));
    });

    it("continue each other's release without building anything again", async () => {
      const built = [
        await theirs("release"),
        await ours("release"),
        await theirs("release"),
        await ours("release", "--version", "2.1"),
        await theirs("release"),
        await ours("release"),
      ];
      expect(built.map(({ Tables }) => Tables?.[0]?.Rows[0]?.version)).toEqual([
        "0+dev.1",
        "0+dev.2",
        "0+dev.3",
        "2.1",
        "2.1+dev.1",
        "2.1+dev.2",
      ]);
      // With the digests: they are the same archives.
      for (const one of built) expect(one.Tables?.slice(1)).toEqual(built[0]?.Tables?.slice(1));
      const other = [await ours("other"), await theirs("other"), await ours("other")];
      for (const one of other) expect(one.Tables?.slice(1)).toEqual(other[0]?.Tables?.slice(1));
      // Archives are of other bytes, their content is the same.
      expect(other[0]?.Tables?.[1]?.Rows.map(({ job }) => job)).toEqual(
        built[0]?.Tables?.[1]?.Rows.map(({ job }) => job),
      );
    });

    it("make final releases that the other goes on from, also where the cache is empty", async () => {
      expect((await theirs("release", "--final")).Tables?.[0]?.Rows[0]?.version).toBe("1");
      env.HOME = join(dir, "home2");
      await mkdir(env.HOME);
      const next = await ours("release", "--final");
      expect(next.Tables?.[0]?.Rows[0]?.version).toBe("2");
      expect(next.Lines).toEqual([
        "Added dev release 'everything/1+dev.1'",
        "Added final release 'everything/2'",
        "Succeeded",
      ]);
      await writeFile(join(dir, "release/src/lib/a.c"), "changed\n");
      const third = await ours("release", "--final");
      env.HOME = join(dir, "home3");
      await mkdir(env.HOME);
      // As in a fresh clone: theirs does not build again what it has lost.
      await rm(join(dir, "release/.dev_builds"), { recursive: true });
      const again = await theirs("release");
      expect(again.Tables?.[0]?.Rows[0]?.version).toBe("3+dev.1");
      expect(again.Tables?.slice(1)).toEqual(third.Tables?.slice(1));
      const index = ".final_builds/packages/lib/index.yml";
      expect((await manifest("release", index)).match(/blobstore_id/g)).toHaveLength(2);
    });

    it("read each other's tarballs, and make one of a release that was made before", async () => {
      await ours("release", "--tarball", join(dir, "ours-((name))-((version)).tgz"));
      const file = join(dir, "release/dev_releases/everything/everything-0+dev.1.yml");
      await theirs("release", file, "--tarball", join(dir, "theirs.tgz"));
      await ours("release", file, "--tarball", join(dir, "again.tgz"));
      const inspect = async (path: string) =>
        JSON.parse(
          (await systemExec(bosh, ["inspect-local-release", join(dir, path), "--json"], { env })).stdout,
        ) as Printed;
      const [our, their, again] = [
        await inspect("ours-everything-0+dev.1.tgz"),
        await inspect("theirs.tgz"),
        await inspect("again.tgz"),
      ];
      expect(our.Lines).toEqual(["Succeeded"]);
      // Theirs forgets which packages a job needs when it makes a release again.
      expect(again.Tables?.slice(1)).toEqual(our.Tables?.slice(1));
      expect(again.Tables?.slice(2)).toEqual(their.Tables?.slice(2));
      expect(await readFile(join(dir, "again.tgz"))).toEqual(
        await readFile(join(dir, "ours-everything-0+dev.1.tgz")),
      );
    });

    it("give it the name and the version that they are told, or one of the time", async () => {
      for (const [cli, of] of [
        [theirs, "release"],
        [ours, "other"],
      ] as const) {
        const named = await cli(of, "--name", "shop", "--version", "7.1");
        expect(named.Tables?.[0]?.Rows[0]).toMatchObject({ name: "shop", version: "7.1" });
        const timed = await cli(of, "--timestamp-version");
        expect(timed.Tables?.[0]?.Rows[0]?.version).toMatch(/^0\+dev\.\d{10}$/);
      }
    });

    it("name the same commit, and refuse the same changes", async () => {
      const git = async (...args: readonly string[]) => {
        const { code, stderr } = await systemExec("git", args, { cwd: join(dir, "release"), env });
        expect(`${code} ${stderr}`).toMatch(/^0 /);
      };
      await git("init", "-q");
      await writeFile(join(dir, "release/.gitignore"), ".dev_builds\ndev_releases\n");
      const commits = async () => {
        const noted: unknown[] = [];
        for (const one of [theirs, ours])
          noted.push((await one("release", "--force")).Tables?.[0]?.Rows[0]?.commit_hash);
        return noted;
      };
      expect(await commits()).toEqual(["empty+", "empty+"]);
      await git("add", ".");
      await git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "all");
      const [their, our] = await commits();
      expect(our).toBe(their);
      expect(our).toMatch(/^[0-9a-f]{7,}$/);
      await writeFile(join(dir, "release/src/lib/a.c"), "changed\n");
      const refused = await runCli(["create-release", "--dir", join(dir, "release")], { env });
      expect(refused.code).toBe(1);
      expect(refused.err).toContain("Git repository has local modifications:\n\n M src/lib/a.c");
      expect((await ours("release", "--force")).Tables?.[0]?.Rows[0]?.commit_hash).toBe(`${our}+`);
    });
  },
);
