import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { expect, it, onTestFinished } from "vitest";

// A tool that Node runs as it is; its types are here.
const { moduleCycles } = (await import(new URL("./modules.mjs", import.meta.url).href)) as {
  moduleCycles(
    src: string,
  ): readonly { readonly modules: readonly string[]; readonly imports: readonly string[] }[];
};

async function source(files: Readonly<Record<string, readonly string[]>>): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  for (const [name, imports] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), imports.join("\n"));
  }
  return path;
}

it("finds a planted circle, with the imports that make it and no others", async () => {
  const src = await source({
    "main.ts": ['import { a } from "./a/a.ts";'],
    "a/a.ts": ['import {\n  b,\n} from "../b/deep/b.ts";', 'import { own } from "./own.ts";'],
    "a/own.ts": [],
    "b/deep/b.ts": ['export const c = async () => await import("../../c.ts");'],
    "c.ts": ['import type { A } from "./a/a.ts";', 'import { fine } from "./fine.ts";'],
    "fine.ts": [],
  });
  expect(moduleCycles(src)).toEqual([
    {
      modules: ["a", "b", "c.ts"],
      imports: ["a/a.ts imports b/deep/b.ts", "b/deep/b.ts imports c.ts", "c.ts imports a/a.ts"],
    },
  ]);
});

it("lets a file stand above the folder of its name, but not the folder above the file", async () => {
  const table = { "steps.ts": ['import { one } from "./steps/one.ts";'] };
  expect(moduleCycles(await source({ ...table, "steps/one.ts": [] }))).toEqual([]);
  const back = await source({ ...table, "steps/one.ts": ['import { STEPS } from "../steps.ts";'] });
  expect(moduleCycles(back)).toHaveLength(1);
});

it("lets tests and what they share import anything", async () => {
  const src = await source({
    "a/a.ts": ['import { b } from "../b/b.ts";'],
    "b/b.ts": [],
    "b/b.test.ts": ['import { a } from "../a/a.ts";'],
    "b/testing/help.ts": ['import { a } from "../../a/a.ts";'],
  });
  expect(moduleCycles(src)).toEqual([]);
});
