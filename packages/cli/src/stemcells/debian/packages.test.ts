import { expect, it } from "vitest";
import { packagesOf } from "./packages.ts";

it("packages are listed by name, without those that are not installed", () => {
  const status = `Package: zlib1g
Status: install ok installed
Architecture: amd64
Description: compression
 Version: not a field
Version: 1:1.2.13

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1

Package: bash
Status: install ok installed
Architecture: amd64
Version: 5.2
`;
  expect(packagesOf(status)).toEqual(["ii  bash 5.2 amd64", "ii  zlib1g 1:1.2.13 amd64"]);
});
