import { randomBytes } from "node:crypto";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { packTar } from "modern-tar";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stemcellName } from "./stemcell-name.ts";

let dir: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
});
afterEach(() => remove());

async function archive(files: Readonly<Record<string, string>>): Promise<string> {
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: Buffer.byteLength(body), type: "file" as const },
    body,
  }));
  const path = join(dir, "s.tgz");
  await writeFile(path, gzipSync(await packTar(entries)));
  return path;
}

describe("name and version of a stemcell file", () => {
  it.each(["stemcell.MF", "./stemcell.MF"])("are those of its %s, behind other files too", async (name) => {
    const path = await archive({ image: "x".repeat(200_000), [name]: "name: s\nversion: '1.10'\n" });
    expect(await stemcellName(path)).toEqual({ name: "s", version: "1.10" });
  });

  it("are read without what follows, however long and damaged that is", async () => {
    const image = randomBytes(8 << 20).toString("latin1");
    const path = await archive({ "stemcell.MF": "name: s\nversion: 1\n", image });
    await truncate(path, 6 << 20);
    expect(await stemcellName(path)).toEqual({ name: "s", version: "1" });
  });

  it.each([
    ["no stemcell.MF", { image: "x" }],
    ["name", { "stemcell.MF": "version: '1'" }],
  ])("are an error where it has %s", async (_, files) => {
    await expect(stemcellName(await archive(files))).rejects.toThrow(/cannot|holds no|name/);
  });

  it("are an error for what is no archive", async () => {
    const path = join(dir, "s.tgz");
    await writeFile(path, "plain text");
    await expect(stemcellName(path)).rejects.toThrow("s.tgz");
    await writeFile(path, gzipSync("not a tar".repeat(100)));
    await expect(stemcellName(path)).rejects.toThrow("s.tgz");
  });
});
