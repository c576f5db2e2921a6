import { describe, expect, it } from "vitest";
import { type CloudChoice, mixesCommand } from "./cli.ts";
import type { Row } from "./row.ts";

const row = (stemcell: 1 | 2, problems: readonly string[]): Row => ({
  director: 2,
  cpi: 2,
  stemcell,
  cpiSaid: 2,
  calls: [],
  moments: [],
  told: [],
  left: [],
  agrees: problems.length === 0,
  problems,
  seconds: 1.5,
});

async function command(argv: readonly string[], rows: readonly Row[] | Error) {
  const said = { out: "", err: "" };
  let chosen: CloudChoice | undefined;
  const code = await mixesCommand(
    argv,
    async (choice, onRow) => {
      chosen = choice;
      if (rows instanceof Error) throw rows;
      for (const one of rows) onRow(one);
      return rows;
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
    const { code, out, err } = await command([], [row(1, []), row(2, [])]);
    expect(code).toBe(0);
    expect(out).toContain("2 of 2 rows agree with the contract.");
    expect(err).toContain("Director v2, CPI v2, stemcell v1: agrees (1.5 s)");
  });

  it("exits with 1 when one does not, and says what was seen and what should be", async () => {
    const problem = "create_vm answers: cid, should be [cid, networks]";
    const { code, out } = await command([], [row(1, [problem]), row(2, [])]);
    expect(code).toBe(1);
    expect(out).toContain("1 of 2 rows agree with the contract.");
    expect(out).toMatch(/^v2 +v2 +v1 .* WRONG$/m);
    expect(out).toContain(`Director v2, CPI v2, stemcell v1:\n  ${problem}\n`);
  });

  it("prints JSON and nothing else when asked to", async () => {
    const rows = [row(1, ["x"]), row(2, [])];
    const { code, out, err } = await command(["--json"], rows);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(JSON.parse(out)).toEqual(rows);
  });

  it("exits with 2 when the mixes cannot be played", async () => {
    const { code, err } = await command([], new Error("no Director"));
    expect(code).toBe(2);
    expect(err).toContain("no Director");
  });

  it.each([
    [["--jsom"], "--jsom"],
    [["--cpi", "warden"], "local or docker"],
    [["--docker-host", "unix:///run/sock"], "--cpi docker"],
    [["--cpi", "local", "--docker-host", "unix:///run/sock"], "--cpi docker"],
  ])("exits with 2 for %j, and plays nothing", async (argv, why) => {
    const { code, out, err, chosen } = await command(argv, [row(1, [])]);
    expect({ code, out, chosen }).toEqual({ code: 2, out: "", chosen: undefined });
    expect(err).toContain(why);
  });

  it.each([
    [[], { cpi: "local", dockerHost: undefined }, "A sandbox with a disk"],
    [["--cpi", "docker"], { cpi: "docker", dockerHost: undefined }, "A container with a disk"],
    [
      ["--cpi=docker", "--docker-host", "unix:///run/sock"],
      { cpi: "docker", dockerHost: "unix:///run/sock" },
      "A container with a disk",
    ],
  ])("plays on the cloud that %j says", async (argv, choice, intro) => {
    const { chosen, out } = await command(argv, [row(1, [])]);
    expect(chosen).toEqual(choice);
    expect(out).toContain(intro);
  });

  it.each(["--help", "-h"])("says how it is used with %s", async (word) => {
    const { code, out } = await command([word], new Error("played"));
    expect(code).toBe(0);
    expect(out).toContain("matrix [--cpi local|docker]");
  });
});
