import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pathsUnder } from "../../../paths.ts";
import { mountsWithSources, mountTable, parseMountLine } from "./mounts.ts";

const GOOD = "25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n";

describe("the mount table", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "slipway-mounts-"));
    await mkdir(join(root, "proc/self"), { recursive: true });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const write = (text: string) => writeFile(join(root, "proc/self/mountinfo"), text);
  const read = () => mountTable(pathsUnder("/var/vcap", root));

  it("is read with and without optional fields, escapes undone byte by byte", () => {
    const line =
      "36 35 98:0 /mnt\\0401 /mnt/caf\\303\\251\\134 rw,noatime master:1 propagate_from:2 - ext3 /dev/a\\011b ro";
    expect(parseMountLine(line)).toEqual({
      source: "/dev/a\tb",
      target: "/mnt/café\\",
      readOnly: true,
      number: "98:0",
      root: "/mnt 1",
      type: "ext3",
      options: ["rw", "noatime"],
      gaveUp: true,
    });
    expect(parseMountLine(GOOD.trim())).toMatchObject({ readOnly: false, gaveUp: false });
  });

  it.each([
    ["rw", "rw", false, false],
    ["rw", "ro,errors=remount-ro", true, true],
    ["rw", "rw,emergency_ro", true, true],
    ["rw", "rw,errors=remount-ro", false, false],
    ["ro", "ro", true, false],
    ["ro", "rw", true, false],
  ])("tells a mount that is %s of a file system that is %s", (mount, system, readOnly, gaveUp) => {
    const line = `25 1 7:0 / /var/vcap/store ${mount},relatime - ext4 /dev/loop0 ${system}`;
    expect(parseMountLine(line)).toMatchObject({ readOnly, gaveUp });
  });

  it.each(["", "25 1 254:0 / /", "25 1 x / / rw - ext4 /dev/vda rw", "25 1 254:0 / / rw - ext4"])(
    "has no entry in a torn line %j",
    (line) => expect(parseMountLine(line)).toBeUndefined(),
  );

  it.each([`${GOOD}26 25 7:0 / /var/vc`, `26 25 7:0\n${GOOD}`, GOOD.trimEnd()])(
    "is not believed when a line is torn",
    async (text) => {
      await write(text);
      await expect(read()).rejects.toMatchObject({ code: "AGD-018" });
    },
  );

  it("shows of mounts on top of each other the last", async () => {
    await write(`${GOOD}26 25 7:0 / /a rw - ext4 /dev/loop0 rw\n27 26 7:1 / /a rw - ext4 /dev/loop1 rw\n`);
    const shown = await mountsWithSources(await read());
    expect(shown.map((mount) => `${mount.source} ${mount.target}`)).toEqual(["/dev/vda /", "/dev/loop1 /a"]);
  });
});
