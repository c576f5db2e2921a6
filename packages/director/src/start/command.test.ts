import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, expect, it } from "vitest";
import { runDirector } from "./command.ts";
import { VERSION } from "./version.ts";

let dir: string;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = directory.path;
  return directory.remove;
});

async function called(...argv: readonly string[]) {
  const said = { out: "", err: "" };
  const into = (where: "out" | "err") => ({ write: (text: string) => (said[where] += text) });
  const code = await runDirector(argv, { out: into("out"), err: into("err"), stop: AbortSignal.abort() });
  return { code, ...said };
}

it.each([
  [["--prot", "1"], "--prot"],
  [["now"], "now"],
  [["--port", "many"], "--port takes a number"],
  [["--config"], "--config"],
  [["--config", "/no/such.json"], "there is no configuration file /no/such.json"],
])("called wrongly with %j it ends with 2 and says why", async (argv, says) => {
  const { code, err, out } = await called(...argv);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(says);
});

it("ends with 1 when a file that was named right holds something wrong", async () => {
  const config = join(dir, "config.json");
  for (const text of ["{", '{"users": 7}']) {
    await writeFile(config, text);
    expect(await called("--config", config)).toMatchObject({ code: 1, err: expect.stringContaining(config) });
  }
});

it("shows how it is called, and its version", async () => {
  expect(await called("--help")).toMatchObject({ code: 0, out: expect.stringContaining("--state-dir DIR") });
  expect(await called("--version")).toEqual({ code: 0, out: `${VERSION}\n`, err: "" });
});

it("says of a file that nothing is wrong with it, or everything that is, and starts nothing", async () => {
  const config = join(dir, "config.yml");
  await writeFile(config, "name: lab\n");
  const fine = { code: 0, out: `${config}: nothing is wrong\n`, err: "" };
  expect(await called("--check", "--config", config)).toEqual(fine);
  await writeFile(config, "nmae: lab\nusers: 7\n");
  const { code, err } = await called("--check", "--config", config);
  expect(code).toBe(1);
  expect(err).toContain("config.nmae");
  expect(err).toContain("config.users");
});
