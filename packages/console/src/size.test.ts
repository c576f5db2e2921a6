import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { builtConsole } from "./testing/console.ts";

/** All of the page, as it is sent through a proxy that compresses. */
const MOST_BYTES = 150_000;

it("needs at most 150 kB, compressed, for the whole page", async () => {
  const directory = await builtConsole();
  const files = ["page.html", "page.mjs", "page.css", "icon.svg"];
  const sizes = await Promise.all(
    files.map(async (file) => gzipSync(await readFile(join(directory, file))).length),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
});

it("loads nothing from elsewhere and has no inline script or style", async () => {
  const html = await readFile(join(await builtConsole(), "page.html"), "utf8");
  expect(html).not.toMatch(/https?:|\/\/|<script(?![^>]* src=)|<style|style=|\son\w+=/);
});
