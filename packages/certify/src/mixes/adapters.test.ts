import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAdapter } from "./adapters.ts";

describe("the adapter of a CPI", () => {
  let dir = "";
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "slipway-adapters-"));
    const adapter = '{ executable: "bin/cpi", vm: "boat", options: {}, open: async () => ({}) }';
    writeFileSync(join(dir, "boats.mjs"), `export const adapter = ${adapter};\n`);
    writeFileSync(join(dir, "boats.cjs"), `exports.adapter = ${adapter};\n`);
    writeFileSync(join(dir, "other.mjs"), "export const other = {};\n");
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.each(["boats.mjs", "boats.cjs"])(
    "is found by the path of its module, %s, with its executable beside",
    async (file) => {
      const loaded = await loadAdapter(join(dir, file), "/nowhere");
      expect(loaded).toMatchObject({ vm: "boat", program: join(dir, "bin/cpi") });
    },
  );

  it("is refused when there is no such module, and when it exports none", async () => {
    await expect(loadAdapter("boats", dir)).rejects.toThrow(
      `there is no CPI 'boats' for --cpi: its adapter would be ${join(dir, "cpi-boats/dist/certify-adapter.cjs")}`,
    );
    await expect(loadAdapter(join(dir, "other.mjs"), dir)).rejects.toThrow("exports no adapter");
  });
});
