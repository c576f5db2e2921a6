import { describe, expect, it } from "vitest";
import { linesOf, mirrorLines, officialLines, parseDeb822, parseList } from "./sources.ts";

const KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";

describe("where a machine gets Debian's packages", () => {
  it("is read from both forms of its sources, with their keyrings", () => {
    const list = `# deb http://old/debian bookworm main
deb-src http://m/debian bookworm main
deb [arch=amd64 signed-by=${KEYS}] http://m/debian bookworm main contrib # ours
deb http://m/debian bookworm-updates main
deb http://m/flat ./
`;
    const sources = `Types: deb deb-src
# A comment.
URIs: http://m/debian/
Suites: bookworm
  bookworm-updates
Components: main
Signed-By: ${KEYS}

Types: deb
Enabled: no
URIs: http://off/debian
Suites: bookworm
Components: main
`;
    expect(linesOf("bookworm", parseList(list))).toEqual([
      `deb [signed-by="${KEYS}"] http://m/debian bookworm main`,
      "deb http://m/debian bookworm-updates main",
    ]);
    expect(linesOf("bookworm", parseDeb822(sources))).toEqual([
      `deb [signed-by="${KEYS}"] http://m/debian bookworm main`,
      `deb [signed-by="${KEYS}"] http://m/debian bookworm-updates main`,
    ]);
  });

  it.each([
    ["another release", "deb http://m/debian trixie main"],
    ["updates alone", "deb http://m/debian bookworm-updates main"],
    ["no main", "deb http://m/docker bookworm stable"],
    ["another's packages", "deb [signed-by=/etc/apt/keyrings/them.gpg] http://them/apt bookworm main"],
    ["a disc", "deb cdrom:[Debian]/ bookworm main"],
    [
      "an inline key",
      "Types: deb\nURIs: http://them\nSuites: bookworm\nComponents: main\nSigned-By:\n -----BEGIN\n x",
    ],
  ])("is not used when it is %s", (_, text) => {
    expect(linesOf("bookworm", [...parseList(text), ...parseDeb822(text)])).toEqual([]);
  });

  it("is Debian's own, or the mirror that was named, when the machine has none", () => {
    expect(officialLines("bookworm")).toEqual([
      "deb http://deb.debian.org/debian bookworm main",
      "deb http://deb.debian.org/debian bookworm-updates main",
      "deb http://deb.debian.org/debian-security bookworm-security main",
    ]);
    expect(officialLines("sid")).toHaveLength(1);
    expect(mirrorLines("trixie", "http://m/debian/", KEYS)).toEqual([
      `deb [signed-by="${KEYS}"] http://m/debian trixie main`,
    ]);
  });
});
