import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expandBraces, globFiles, matches } from "./glob.ts";

const FILES = ["top", ".dot", "a/x.c", "a/y.h", "a/b/x.c", "a/b/c/.x", "odd/{z}", "odd/[q]"];

describe("the files that a package's pattern means", () => {
  let dir: string;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    ({ path: dir, remove } = await temporaryDirectory());
    for (const file of FILES) {
      await mkdir(dirname(join(dir, file)), { recursive: true });
      await writeFile(join(dir, file), file);
    }
    await symlink("b", join(dir, "a/link"));
    await symlink("nowhere", join(dir, "a/lost"));
    await symlink("..", join(dir, "a/b/round"));
  });
  afterAll(() => remove());

  it.each([
    ["top", ["top"]],
    ["./a//x.c", ["a/x.c"]],
    ["a/../top", ["top"]],
    ["*", [".dot", "top"]],
    ["a/*", ["a/link", "a/lost", "a/x.c", "a/y.h"]],
    ["a/*.c", ["a/x.c"]],
    ["a/?.[a-c]", ["a/x.c"]],
    ["a/?.[^a-c]", ["a/y.h"]],
    ["**/x.c", ["a/b/x.c", "a/x.c"]],
    ["a/**/*", ["a/b/c/.x", "a/b/round", "a/b/x.c", "a/link", "a/lost", "a/x.c", "a/y.h"]],
    ["a/**", ["a/b/c/.x", "a/b/round", "a/b/x.c", "a/link", "a/x.c", "a/y.h"]],
    ["a/{x.c,b/x.c,nothing}", ["a/b/x.c", "a/x.c"]],
    ["{top,a/{x.c,y.h}}", ["a/x.c", "a/y.h", "top"]],
    ["odd/\\{z\\}", ["odd/{z}"]],
    ["odd/\\[*", ["odd/[q]"]],
    // What lies behind a link is not there.
    ["a/link/x.c", []],
    ["a/link/*", []],
    ["a", []],
    ["none/**/*", []],
  ])("%s", async (pattern, names) => {
    expect((await globFiles(dir, pattern))?.map(({ name }) => name)).toEqual(names);
  });

  it.each(["../x", "a/../../x", "a/[", "a/{b", "a\\", "a/[]"])("%s is no pattern", async (pattern) => {
    expect(await globFiles(dir, pattern)).toBeUndefined();
  });

  it("takes no longer for a pattern that nearly matches in many ways", () => {
    expect(matches("*a".repeat(200), `${"a".repeat(5000)}b`)).toBe(false);
    expect(expandBraces("{a,b}".repeat(30))).toBeUndefined();
  });
});
