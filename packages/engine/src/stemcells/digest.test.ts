import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyDigest } from "./digest.ts";

const CONTENT = "some bytes";
const hex = (algorithm: string) => createHash(algorithm).update(CONTENT).digest("hex");
const wrong = (algorithm: string) => createHash(algorithm).update("other").digest("hex");

let file: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  const directory = await temporaryDirectory();
  remove = directory.remove;
  file = join(directory.path, "file");
  await writeFile(file, CONTENT);
});
afterAll(() => remove());

describe("a digest string", () => {
  it.each([
    [hex("sha1")],
    [hex("sha1").toUpperCase()],
    [`sha256:${hex("sha256")}`],
    [`sha512:${hex("sha512")}`],
    [`${hex("sha1")};sha256:${hex("sha256")}`],
    [`md9:00;${hex("sha1")}`],
    // Only the strongest one counts.
    [`${wrong("sha1")};sha256:${hex("sha256")}`],
    [`sha512:${hex("sha512")};sha256:${wrong("sha256")}`],
  ])("%s fits its file", async (text) => {
    await expect(verifyDigest(file, text)).resolves.toBeUndefined();
  });

  it.each([[wrong("sha1")], [`${hex("sha1")};sha256:${wrong("sha256")}`]])(
    "%s does not, which is error 50007",
    async (text) => {
      await expect(verifyDigest(file, text)).rejects.toMatchObject({ number: 50007 });
    },
  );

  it.each([
    ["", /^No digest algorithm found\. Supported algorithms: sha1, sha256, sha512/],
    [";", /^No digest algorithm found/],
    ["abc", /^Expected stream to have digest 'abc', which no stream has: sha1 has 40 hex digits/],
    [`sha256:${hex("sha1")}`, /^Expected stream to have digest 'sha256:[0-9a-f]{40}'.*64 hex digits/],
    ["md9:00", /^No digest algorithm found\. Supported algorithms: sha1, sha256, sha512/],
    [`${hex("sha1")};${hex("sha1")}`, /^Multiple digests of the same algorithm 'sha1' found/],
    [`${hex("sha1")};sha1:${hex("sha1")}`, /^Multiple digests of the same algorithm 'sha1' found/],
  ])("%j is refused", async (text, why) => {
    await expect(verifyDigest(file, text)).rejects.toMatchObject({
      number: 40005,
      message: expect.stringMatching(why),
    });
  });
});
