import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle, bundled } from "@slipway/testkit/bundle";
import { chosen } from "@slipway/testkit/sample";
import { plays } from "@slipway/testkit/stories";
import { tempDir } from "@slipway/testkit/waiting";
import { beforeAll, describe, expect, it } from "vitest";
import { matrixCommand } from "./cli.ts";
import { EIGHT_MIXES } from "./mixes.ts";
import type { MatrixRow } from "./observe.ts";
import { tableText } from "./table.ts";

const tiny = bundled("../../../../examples/tiny-cpi/src/main.ts", import.meta.url);
const deaf = bundled("../testing/deaf-cpi.ts", import.meta.url);

async function command(argv: readonly string[], defaultCpi: string) {
  const said = { out: "", err: "" };
  const code = await matrixCommand(argv, defaultCpi, {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  });
  return { code, ...said };
}

const mixOf = ({ director, cpi, stemcell }: MatrixRow) => ({ director, cpi, stemcell });
const name = ({ director, cpi, stemcell }: MatrixRow) => `${director}/${cpi}/${stemcell}`;

/** Starts a CPI for each of some fifty calls, so it is not always run. */
describe.runIf(plays("parts", "matrix of the tiny CPI"))("the matrix of the tiny CPI", () => {
  let printed: Awaited<ReturnType<typeof command>>;
  let rows: readonly MatrixRow[] = [];
  beforeAll(async () => {
    printed = await command(["--json"], tiny());
    rows = JSON.parse(printed.out) as MatrixRow[];
  });

  it("is JSON and nothing else, with exit code 0", () => {
    expect({ code: printed.code, err: printed.err }).toEqual({ code: 0, err: "" });
    expect(printed.out).toBe(`${JSON.stringify(rows, null, 2)}\n`);
  });

  it("has eight rows in the order of the table, and all agree", () => {
    expect(rows.map(mixOf)).toEqual(EIGHT_MIXES);
    expect(rows.map(({ problems }) => problems)).toEqual(rows.map(() => []));
    expect(rows.every(({ agrees }) => agrees)).toBe(true);
  });

  it("is registry-less where all three are new, and nowhere else", () => {
    expect(rows.filter(({ registryless }) => registryless).map(name)).toEqual(["2/2/2"]);
    for (const row of rows) {
      const writes = {
        create_vm: ["PUT"],
        attach_disk: ["PUT"],
        detach_disk: ["PUT"],
        delete_vm: ["DELETE"],
      };
      const none = { create_vm: [], attach_disk: [], detach_disk: [], delete_vm: [] };
      expect(row.registryWrites).toEqual(row.registryless ? none : writes);
      expect(row.userData).toBe(row.registryless ? "settings" : "registry");
      expect(row.registryHint === null).toBe(row.registryless);
    }
  });

  it("has the shapes of version 2 where Director and CPI are new, whatever the stemcell", () => {
    for (const row of rows) {
      const both = row.director === 2 && row.cpi === 2;
      expect(row.apiVersion).toBe(both ? 2 : 1);
      expect(row.createVmResult).toBe(both ? "[cid, networks]" : "cid");
      expect(row.attachDiskResult !== null).toBe(both);
      expect(row.agentCalls).toEqual(both ? ["add_persistent_disk", "mount_disk"] : ["mount_disk"]);
      if (both && !row.registryless) expect(row.registryHint).toEqual(row.attachDiskResult);
    }
  });

  it("reads as a table that fits a terminal", () => {
    const lines = tableText(rows).split("\n");
    expect(lines).toHaveLength(9);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
    expect(lines[8]).toMatch(/^v2\s+v2\s+v2\s+\[cid, networks\]\s+full settings\s+none\s+disk hint\s.*\sok$/);
    expect(lines[1]).toMatch(
      /^v1\s+v1\s+v1\s+cid\s+registry URL\s+all 4 writes\s+nothing\s+mount_disk\s+ok$/,
    );
  });
});

describe("a fault in the shared formula", () => {
  it.runIf(chosen("matrix of a fault", 1 / 3))(
    "is noticed by the judge, who has a table of its own",
    async () => {
      const plant = {
        file: "protocol/src/negotiate.ts",
        text: "apiVersion >= 2 && stemcell >= 2",
        instead: "apiVersion >= 2",
      };
      const dir = await tempDir();
      const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
      const cpi = await bundle(source("../../../../examples/tiny-cpi/src/main.ts"), {
        plant,
        to: join(dir, "cpi.cjs"),
      });
      // The judge is bundled with the fault, too.
      const script = `import { runMatrix } from "./run.ts";
      void runMatrix(process.argv[2] ?? "").then((rows) => console.log(JSON.stringify(rows)));
      export { negotiate } from "@slipway/protocol/negotiate";`;
      const judge = await bundle({ script, in: source(".") }, { plant, to: join(dir, "judge.cjs") });
      const { stdout } = await promisify(execFile)(process.execPath, [judge, cpi]);
      const wrong = (JSON.parse(stdout) as MatrixRow[]).filter(({ agrees }) => !agrees);
      expect(wrong.map(name)).toEqual(["2/2/1"]);
      expect(wrong[0]?.problems).toContain('user-data: "settings", should be "registry"');
    },
  );
});

describe("the matrix command", () => {
  it.runIf(chosen("matrix of a broken CPI", 1 / 3))(
    "tells the row that a broken CPI gets wrong, and exits with 1",
    async () => {
      const { code, out, err } = await command(["--cpi", deaf()], "/no/default");
      expect({ code, err }).toEqual({ code: 1, err: "" });
      expect(out).toContain("7 of 8 rows agree with the contract.");
      expect(out.match(/WRONG/g)).toHaveLength(1);
      expect(out).toMatch(/^v2\s+v2\s+v1\s.*WRONG$/m);
      expect(out).toContain('Director v2, CPI v2, stemcell v1: user-data: "settings", should be "registry"');
    },
  );

  it("exits with 2 when the CPI gives no usable answer", async () => {
    const path = join(await tempDir(), "cpi.cjs");
    await writeFile(path, "process.exit(7)");
    const { code, err } = await command(["--json", "--cpi", path], "/no/default");
    expect(code).toBe(2);
    expect(err).toMatch(/CER-001 .*exit code 7/);
    expect(err).toMatch(/next: /);
  });

  it.each([
    [["--jsom"], "'--jsom' is not understood"],
    [["--cpi"], "'--cpi' is not understood"],
    [["tiny"], "'tiny' is not understood"],
    [["--cpi", "/no/such/cpi"], "there is no CPI at /no/such/cpi"],
  ])("exits with 2 for %j, and says why", async (argv, words) => {
    const { code, out, err } = await command(argv, tiny());
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(words);
  });

  it("says how it is used", async () => {
    for (const word of ["--help", "-h"]) {
      const { code, out, err } = await command([word], "/no/default");
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain("matrix [--json] [--cpi FILE] [--old | --new]");
    }
  });
});
