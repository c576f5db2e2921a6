import { describe, expect, it } from "vitest";
import { BadUsage } from "../errors.ts";
import type { LoadedAdapter } from "./adapters.ts";
import { type CloudChoice, mixesCommand } from "./cli.ts";
import type { MixRow } from "./row.ts";

const row = (stemcell: 1 | 2, problems: readonly string[]): MixRow => ({
  director: 2,
  cpi: 2,
  stemcell,
  deployer: "Director",
  agent: stemcell === 1 ? "v1" : "v2",
  cpiSaid: 2,
  calls: [],
  moments: [],
  told: [],
  left: [],
  agrees: problems.length === 0,
  problems,
  seconds: 1.5,
});

const adapter = (vm: string, options: LoadedAdapter["options"]): LoadedAdapter => ({
  executable: "cpi.cjs",
  program: `/${vm}/cpi.cjs`,
  vm,
  options,
  open: () => Promise.reject(new Error("not played here")),
});
const CAVE = ["--cpi", "cave"];
const ADAPTERS = new Map([
  ["cave", adapter("cave", {})],
  ["ship", adapter("cabin", { "ship-host": "where the ship is" })],
]);

async function load(cpi: string): Promise<LoadedAdapter> {
  const found = ADAPTERS.get(cpi);
  if (found === undefined) throw BadUsage({ why: `no adapter '${cpi}'` });
  return found;
}

async function command(argv: readonly string[], rows: readonly MixRow[] | Error) {
  const said = { out: "", err: "" };
  let chosen: CloudChoice | undefined;
  const code = await mixesCommand(
    argv,
    {
      load,
      run: async (choice, onRow) => {
        chosen = choice;
        if (rows instanceof Error) throw rows;
        for (const one of rows) onRow(one);
        return rows;
      },
    },
    {
      out: (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += text;
      },
    },
  );
  return { code, ...said, chosen };
}

describe("the command that plays the mixes", () => {
  it("exits with 0 when all agree, and says how each went", async () => {
    const { code, out, err } = await command(CAVE, [row(1, []), row(2, [])]);
    expect(code).toBe(0);
    expect(out).toContain("2 of 2 rows agree with the contract.");
    expect(err).toContain("Director v2, CPI v2, stemcell v1: agrees (1.5 s)");
  });

  it("exits with 1 when one does not, and says what was seen and what should be", async () => {
    const problem = "create_vm answers: cid, should be [cid, networks]";
    const { code, out } = await command(CAVE, [row(1, [problem]), row(2, [])]);
    expect(code).toBe(1);
    expect(out).toContain("1 of 2 rows agree with the contract.");
    expect(out).toMatch(/^Director v2 +v2 +v1 .* WRONG$/m);
    expect(out).toContain(`Director v2, CPI v2, stemcell v1:\n  ${problem}\n`);
  });

  it("prints JSON and nothing else when asked to", async () => {
    const rows = [row(1, ["x"]), row(2, [])];
    const { code, out, err } = await command([...CAVE, "--json"], rows);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(JSON.parse(out)).toEqual(rows);
  });

  it("exits with 2 when the mixes cannot be played", async () => {
    const { code, err } = await command(CAVE, new Error("no Director"));
    expect(code).toBe(2);
    expect(err).toContain("no Director");
  });

  it.each([
    [[], "--cpi"],
    [[...CAVE, "--jsom"], "--jsom"],
    [["--cpi", "warden"], "no adapter 'warden'"],
    [["--ship-host", "sea"], "--ship-host"],
    [[...CAVE, "--ship-host", "sea"], "--ship-host"],
  ])("exits with 2 for %j, and plays nothing", async (argv, why) => {
    const { code, out, err, chosen } = await command(argv, [row(1, [])]);
    expect({ code, out, chosen }).toEqual({ code: 2, out: "", chosen: undefined });
    expect(err).toContain(why);
  });

  it.each([
    [CAVE, "cave", {}, "A cave with a disk"],
    [["--cpi", "ship"], "ship", { "ship-host": undefined }, "A cabin with a disk"],
    [["--cpi=ship", "--ship-host", "sea"], "ship", { "ship-host": "sea" }, "A cabin with a disk"],
    [[...CAVE, "--cpi", "ship"], "ship", { "ship-host": undefined }, "A cabin with a disk"],
  ])("plays on the cloud that %j says", async (argv, name, options, intro) => {
    const { chosen, out } = await command(argv, [row(1, [])]);
    expect(chosen).toEqual({ adapter: ADAPTERS.get(name), options });
    expect(out).toContain(intro);
  });

  it.each(["--help", "-h"])("says how it is used with %s", async (word) => {
    const { code, out } = await command([word], new Error("played"));
    expect(code).toBe(0);
    expect(out).toContain("matrix --cpi NAME|MODULE");
  });

  it("says which options an adapter has", async () => {
    const { out } = await command(["--cpi", "ship", "--help"], new Error("played"));
    expect(out).toMatch(/--ship-host VALUE +where the ship is/);
  });
});
