import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, expect, it } from "vitest";

const { modulesOf } = (await import(new URL("./module-map.mjs", import.meta.url).href)) as {
  modulesOf(top: string): readonly {
    readonly name: string;
    readonly modules: readonly { readonly module: string; readonly line: string }[];
  }[];
};

let top: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: top, remove } = await temporaryDirectory());
  for (const folder of ["plan", "steps", "testing"])
    await mkdir(join(top, "engine", "src", folder), { recursive: true });
  await writeFile(join(top, "engine", "package.json"), '{ "description": "Plans." }');
});
afterEach(() => remove());

const write = (folder: string, text: string) => writeFile(join(top, "engine/src", folder, "README.md"), text);

it("the module map has the line of each folder, and none of tests' helpers", async () => {
  await write("plan", "Makes steps.\n");
  await write("steps", "One file per step.\n");
  expect(modulesOf(top)).toMatchObject([
    {
      name: "engine",
      modules: [
        { module: "plan", line: "Makes steps." },
        { module: "steps", line: "One file per step." },
      ],
    },
  ]);
});

it("the module map refuses folders without a line, and names all of them", async () => {
  await write("plan", "\n");
  expect(() => modulesOf(top)).toThrow(/plan\/README\.md: missing.*steps\/README\.md: missing/s);
});

it.each([
  ["of two lines", "Makes steps.\nAnd more.", /more than one line/],
  ["that is too long for a table", "x".repeat(141), /longer than 140/],
])("the module map refuses a text %s", async (_name, text, said) => {
  await write("plan", text);
  await write("steps", "One file per step.");
  expect(() => modulesOf(top)).toThrow(said);
});
