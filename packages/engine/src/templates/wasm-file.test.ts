import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { WasmFile } from "./wasm-file.ts";
import { ROOM } from "./wasm-memory.ts";
import type {} from "./webassembly.ts";

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const MEMORY = [0x05, 0x03, 0x01, 0x00, 0x01];
/** Custom sections of Ruby's module stand behind its data. */
const CUSTOM = [0x00, 0x02, 0x01, 0x78];
const active = (offset: number, text: string) => [
  0x00,
  0x41,
  offset,
  0x0b,
  text.length,
  ...Buffer.from(text),
];
const passive = (text: string) => [0x01, text.length, ...Buffer.from(text)];

/** A module whose memory begins with some segments of data. */
function moduleOf(...segments: (readonly number[])[]): Buffer {
  const data = [segments.length, ...segments.flat()];
  return Buffer.from([...HEADER, ...MEMORY, 0x0b, data.length, ...data, ...CUSTOM]);
}

async function opened(bytes: Uint8Array): Promise<{ readonly file: WasmFile; readonly path: string }> {
  const path = join(await tempDir(), "module.wasm");
  await writeFile(path, bytes);
  return { file: await WasmFile.open(path), path };
}

describe("WasmFile", () => {
  it("gives the module with its data left out", async () => {
    const { file } = await opened(moduleOf(passive(""), active(5, "abc"), active(16, "de")));
    const code = await file.code();
    await file.close();
    expect(Buffer.from(code.subarray(ROOM))).toEqual(
      Buffer.from([
        ...HEADER,
        ...MEMORY,
        0x0b,
        0x07,
        0x03,
        ...[0x01, 0x00],
        ...[0x01, 0x00],
        ...[0x01, 0x00],
      ]),
    );
    await expect(WebAssembly.compile(code.subarray(ROOM))).resolves.toBeDefined();
  });

  it("gives the places of the data in the file and in the memory", async () => {
    const { file, path } = await opened(moduleOf(passive(""), active(5, "abc"), active(16, "de")));
    const whole = await readFile(path);
    const found = await file.runs();
    await file.close();
    expect(
      found.map(({ file: from, memory, length }) => [memory, whole.toString("latin1", from, from + length)]),
    ).toEqual([
      [5, "abc"],
      [16, "de"],
    ]);
  });

  it("rejects data that the code itself copies", async () => {
    const { file } = await opened(moduleOf(passive("abc")));
    await expect(file.runs()).rejects.toThrow("without a place");
    await file.close();
  });

  it("rejects a file that is cut off", async () => {
    const whole = moduleOf(active(5, "abc"));
    const { file } = await opened(whole.subarray(0, whole.length - CUSTOM.length - 2));
    await expect(file.runs()).rejects.toThrow("cut off");
    await file.close();
  });

  it("has another identity after its file was replaced", async () => {
    const { file, path } = await opened(moduleOf(active(5, "abc")));
    await file.close();
    const again = await WasmFile.open(path);
    await again.close();
    await writeFile(path, moduleOf(active(5, "abcd")));
    const replaced = await WasmFile.open(path);
    await replaced.close();
    expect(again.identity).toBe(file.identity);
    expect(replaced.identity).not.toBe(file.identity);
  });
});
