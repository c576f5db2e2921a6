import { copyFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import { bundle } from "@slipway/testkit/bundle";
import { tempDir } from "@slipway/testkit/waiting";
import { expect, it } from "vitest";
import { isFailure, type Renderer, type RenderRequest } from "./request.ts";
import { loadRuby, rubyFile, writeSnapshot } from "./ruby-module.ts";
import { restoreRuby } from "./ruby-vm.ts";
import { decodeAnswer, encodeRequest } from "./ruby-wire.ts";
import { WasmFile } from "./wasm-file.ts";
import { WasmRenderer } from "./wasm-renderer.ts";

const LIMIT = 119_000;
const ruby = rubyFile(import.meta.url);

/** The text reads a file of the standard library, which is data of the module. */
const request: RenderRequest = {
  dialect: "director",
  context: { properties: { a: [1] } },
  templates: [{ name: "t.erb", source: Buffer.from('<% require "abbrev" %><%= p("a").to_yaml %>') }],
};
const TEXT = "---\n- 1\n";

async function rendered(by: Renderer): Promise<string> {
  const [found] = await by.render(request, new AbortController().signal);
  if (found === undefined || isFailure(found)) throw new Error(found?.message);
  return Buffer.from(found.text).toString();
}

it("renders many jobs without asking for memory", { timeout: LIMIT }, async () => {
  const file = await WasmFile.open(ruby);
  const { module, snapshot } = await loadRuby(file, { ruby, snapshot: "/nonexistent" });
  const vm = await restoreRuby(module, snapshot, file);
  await file.close();
  const before = vm.memory();
  for (let at = 0; at < 100; at++)
    expect(decodeAnswer(vm.render(encodeRequest(request)), request)).toEqual([
      { name: "t.erb", text: Buffer.from(TEXT) },
    ]);
  expect(vm.memory()).toBe(before);
});

it("renders after an upgrade has replaced the file of the Ruby", { timeout: LIMIT }, async () => {
  const dir = await tempDir();
  const own = join(dir, "dist", "ruby.wasm");
  await mkdir(dirname(own));
  await copyFile(join(dirname(ruby), "../package.json"), join(dir, "package.json"));
  await copyFile(ruby, own);
  const snapshot = join(dir, "snapshot");
  await writeSnapshot({ ruby: own, snapshot });
  const source = fileURLToPath(new URL("./render-worker.ts", import.meta.url));
  const worker = await bundle(source, { format: "esm" });
  const pool = new WasmRenderer({
    worker,
    ruby: own,
    snapshot,
    clock: systemClock,
    threads: 1,
    limit: LIMIT,
  });
  try {
    expect(await rendered(pool.open())).toBe(TEXT);
    // A section that means nothing: everything behind it has another place.
    const whole = await readFile(own);
    await writeFile(
      `${own}.new`,
      Buffer.concat([whole.subarray(0, 8), Buffer.from([0, 3, 1, 0x78, 0]), whole.subarray(8)]),
    );
    await rename(`${own}.new`, own);
    expect(await rendered(pool.open())).toBe(TEXT);
  } finally {
    await pool.close();
  }
});
