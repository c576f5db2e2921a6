import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { needs } from "@slipway/agent/testing/needs";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { temporaryDirectory } from "@slipway/kernel/testing/temporary";
import { describe, expect, it } from "vitest";
import { buildDockerStemcell } from "../build-docker.ts";
import { inspectStemcell } from "../inspect-archive.ts";

// Minutes, and some tens of megabytes from a mirror: only where it is asked for.
const asked = (process.env.SLIPWAY_REQUIRE ?? "").split(",").includes("mmdebstrap");
const there = existsSync("/usr/bin/mmdebstrap") && process.getuid?.() === 0;
const why = asked ? "there is no mmdebstrap, or this is not root" : "SLIPWAY_REQUIRE does not name it";

describe.runIf(needs("mmdebstrap", asked && there, why))("a stemcell of real Debian packages", () => {
  it("has the same bytes each time, in order, with nothing of this machine or of the time in it", async () => {
    const { path, remove } = await temporaryDirectory();
    try {
      await writeFile(join(path, "agent.cjs"), "console.log('agent');\n");
      const build = async (name: string) => {
        await mkdir(join(path, name));
        const order = { agent: join(path, "agent.cjs"), node: process.execPath, env: process.env };
        return await buildDockerStemcell({ ...order, to: join(path, name, "s.tgz"), clock: systemClock });
      };
      const [one, two] = [await build("one"), await build("two")];
      expect(two.sha1).toBe(one.sha1);
      expect(await readdir(join(path, "two"))).toEqual(["s.tgz"]);
      expect((await inspectStemcell(one.file)).light).toBe(false);

      await systemExec("tar", ["-xzf", one.file, "-C", path, "image"]);
      const list = await systemExec("tar", ["--utc", "-tvzf", join(path, "image")], { keep: 16 << 20 });
      const lines = list.stdout.trim().split("\n");
      expect(lines.filter((line) => !line.includes(" 1980-01-02 00:00 "))).toEqual([]);
      const names = lines.map((line) => line.replace(/^.* 00:00 /, "").replace(/ (->|link to) .*/, ""));
      expect(new Set(names).size).toBe(names.length);
      for (const children of byDirectory(names).values()) expect(children.toSorted()).toEqual(children);
      for (const gone of ["etc/resolv.conf", "etc/hostname", "etc/shadow-", "dev/null"])
        expect(names).not.toContain(`./${gone}`);
      const leftover = /^\.\/(var\/log|usr\/share\/man|var\/lib\/apt\/lists)\/.*[^/]$/;
      // An empty file that apt makes wherever it looks.
      expect(names.filter((name) => leftover.test(name) && !name.endsWith("/lock"))).toEqual([]);
    } finally {
      await remove();
    }
  }, 1_200_000);
});

function byDirectory(names: readonly string[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of names) {
    const path = name.replace(/\/$/, "");
    const parent = dirname(path);
    found.set(parent, [...(found.get(parent) ?? []), basename(path)]);
  }
  return found;
}
