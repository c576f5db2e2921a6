import { expect, it } from "vitest";
import type { BlobId } from "../blobs/blobs.ts";
import type { CompiledPackage } from "../releases/model.ts";
import { nextBest } from "./next-best.ts";

const compiled = (stemcellVersion: string, given: Partial<CompiledPackage> = {}): CompiledPackage => ({
  packageId: 1,
  stemcellOs: "jammy",
  stemcellVersion,
  dependencyKey: "[]",
  build: 1,
  blobId: "blob" as BlobId,
  digest: "",
  ...given,
});
const key = { packageId: 1, stemcellOs: "jammy", stemcellVersion: "1.9", dependencyKey: "[]" };

it("is the newest of the same line of stemcells", () => {
  const all = [compiled("1.2"), compiled("1.10"), compiled("1.3"), compiled("2.1")];
  expect(nextBest(key, all)?.stemcellVersion).toBe("1.10");
});

it.each<[string, Partial<CompiledPackage>]>([
  ["another package", { packageId: 2 }],
  ["another system", { stemcellOs: "noble" }],
  ["other dependencies", { dependencyKey: '[["lib","1"]]' }],
  ["another line", { stemcellVersion: "2.9" }],
])("is none of %s", (_, given) => {
  expect(nextBest(key, [compiled("1.2", given)])).toBeUndefined();
});
