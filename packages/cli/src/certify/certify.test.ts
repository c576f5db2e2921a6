import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readReceipt } from "@slipway/certify/report/receipt";
import { readCloudFile } from "@slipway/certify/session/cloud-file";
import { CLOUD_FILE_TEMPLATE } from "@slipway/certify/session/template";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { bundled } from "@slipway/testkit/bundle";
import { tempDir } from "@slipway/testkit/waiting";
import { beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../testing/run-cli.ts";

const tiny = bundled("../../../../examples/tiny-cpi/src/main.ts", import.meta.url);

describe("slipway certify", () => {
  let dir: string;
  let config: string;
  beforeEach(async () => {
    dir = await tempDir();
    await mkdir(join(dir, "cloud"));
    config = join(dir, "cpi.json");
    await writeFile(config, JSON.stringify({ cloud: { properties: { tiny: { dir: join(dir, "cloud") } } } }));
  });

  const run = (...argv: readonly string[]) => runCli(["certify", ...argv], { home: join(dir, "home") });

  async function shellCpi(text: string, mode = 0o755): Promise<string> {
    const path = join(dir, "cpi");
    await writeFile(path, text, { mode });
    return path;
  }

  it("ends with 0 for a CPI that keeps its rules, and writes the receipt in all forms", async () => {
    const report = join(dir, "report");
    const { code, out } = await run(
      ...["--cpi", tiny(), "--config", config, "--only", "CPI-STEMCELL", "--report", report],
    );
    expect(out).toContain("2 rules: 2 passed");
    expect(code).toBe(0);
    const receipt = readReceipt(await readFile(join(report, "receipt.json"), "utf8"), "receipt");
    expect(receipt.results.map(({ id, verdict }) => [id, verdict])).toEqual([
      ["CPI-STEMCELL-001", "passed"],
      ["CPI-STEMCELL-002", "passed"],
    ]);
    for (const name of ["junit.xml", "report.html", "badge.svg"])
      expect((await stat(join(report, name))).size).toBeGreaterThan(0);
  });

  it("makes a home that a Director of the same user can be started in", async () => {
    await run("--cpi", tiny(), "--config", config, "--only", "CPI-STEMCELL-001");
    const { mode } = await stat(join(dir, "home"));
    // The database of a Director of root's runs as another user, who must pass through.
    expect(mode & 0o777).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
  });

  it("ends with 1 for a CPI in a shell script that breaks a rule, and names the rule", async () => {
    const cpi = await shellCpi(`#!/bin/sh\ncat >/dev/null\necho '{"result":null,"error":null,"log":""}'\n`);
    const { code, out } = await run("--cpi", cpi, "--only", "CPI-WIRE-006");
    expect(out).toContain("CPI-WIRE-006 failed: sing_song is not refused");
    expect(code).toBe(1);
  });

  it.each([
    ["without a CPI", [], /--cpi must name/],
    ["for a CPI that is not there", ["--cpi", "/nowhere/cpi"], /--cpi names \/nowhere\/cpi/],
    ["for an unknown rule", ["--cpi", "/bin/true", "--only", "CPI-SONG"], /there is no rule CPI-SONG/],
    ["for an unknown version", ["--cpi", "/bin/true", "--versions", "2,9"], /'9', which is not 1, 2 or 3/],
  ])("ends with 2 %s", async (_, argv, words) => {
    const { code, err } = await run(...argv);
    expect(err).toMatch(words);
    expect(code).toBe(2);
  });

  it("ends with 2 for a cloud file with an unknown key, and names the key", async () => {
    const cloud = join(dir, "certify.yml");
    await writeFile(cloud, "network:\n  first_adress: 10.0.0.1\n  type: manual\n");
    const { code, err } = await run("--cpi", "/bin/true", "--cloud", cloud);
    expect(err).toMatch(/network.first_adress: this key is not known/);
    expect(code).toBe(2);
  });

  it("ends with 3 for a program that cannot be run", async () => {
    const { code, err } = await run("--cpi", await shellCpi("#!/nowhere/sh\n"));
    expect(err).toMatch(/cannot be run/);
    expect(code).toBe(3);
  });
});

describe("slipway certify init", () => {
  it("writes a cloud file that says the defaults, and never overwrites one", async () => {
    const path = join(await tempDir(), "certify.yml");
    expect((await runCli(["certify", "init", path])).code).toBe(0);
    const written = parseYaml(await readFile(path, "utf8"), path);
    expect(readCloudFile(written, path)).toMatchObject({ disk: { size: 64 }, network: { type: "manual" } });
    const again = await runCli(["certify", "init", path]);
    expect(again.err).toContain("is already there");
    expect(again.code).toBe(2);
  });

  it("writes no comment that would not be a valid key", () => {
    const commented = CLOUD_FILE_TEMPLATE.replace(/^( *)# ((?:image|key|user_data): )/gm, "$1$2");
    expect(commented).not.toBe(CLOUD_FILE_TEMPLATE);
    expect(() => readCloudFile(parseYaml(commented, "it"), "it")).not.toThrow();
  });
});

describe("slipway certify clean", () => {
  it("says that there is nothing to remove", async () => {
    const { code, out } = await runCli(["certify", "clean"], { home: await tempDir() });
    expect(out).toContain("No killed run has left anything.");
    expect(code).toBe(0);
  });
});
