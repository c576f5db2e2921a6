import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run, VERSION } from "./cli.ts";
import { machine } from "./settings/testing/settings-lab.ts";

async function called(...argv: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const io = {
    out: { write: (text: string) => out.push(text) },
    err: { write: (text: string) => err.push(text) },
    stop: AbortSignal.abort(),
  };
  const code = await run(argv, io);
  return { code, out: out.join(""), err: err.join("") };
}

describe("slipway-agent", () => {
  it("prints its help and its version, which is the package's", async () => {
    const help = await called("--help");
    expect(help).toMatchObject({ code: 0, err: "" });
    for (const word of ["--config", "--base-dir", "--platform", "RawDisk", "InstanceMetadata"])
      expect(help.out).toContain(word);
    const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect(VERSION).toBe(version);
    expect((await called("--version")).out).toBe(`slipway-agent ${version}\n`);
  });

  it.each([["--frobnicate"], ["-P", "windows"], ["-M", "upstart"], ["stray"], ["--config"]])(
    "exits 2 when called as %s %s",
    async (...argv) => {
      const { code, err } = await called(...argv.filter((word) => word !== undefined));
      expect(code).toBe(2);
      expect(err).toContain("AGS-022");
    },
  );

  it("exits 1 with the reason when its configuration is missing or wrong", async () => {
    const { dir } = await machine();
    const file = join(dir, "agent.json");
    expect(await called("--config", file)).toMatchObject({
      code: 1,
      err: expect.stringContaining("AGS-020"),
    });
    const wrong = [
      "",
      "{}",
      '{"Infrastructure":{"Settings":{"Sources":[]}}}',
      '{"Infrastructure":{"Settings":{"Sources":[{"Type":"Magic"}]}}}',
    ];
    for (const text of wrong) {
      await writeFile(file, text);
      const { code, err } = await called("-C", file);
      expect(code).toBe(1);
      expect(err).toMatch(/AGS-021|KER-002/);
    }
  });

  it("takes upstream's flags, its configuration from the base directory, and exits 1 when a signal ends it", async () => {
    const { dir, paths } = await machine();
    const config = {
      Infrastructure: { Settings: { Sources: [{ Type: "File", SettingsPath: join(dir, "none") }] } },
    };
    await mkdir(paths.boshDir, { recursive: true });
    await writeFile(join(paths.boshDir, "agent.json"), JSON.stringify(config));
    const { code, out, err } = await called("-P", "ubuntu", "-M", "builtin", "-b", paths.base);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toContain(`on linux, base ${paths.base}`);
    expect(out).toContain("jobs are run by the agent itself");
    expect(out).toContain("ended by a signal");
  });
});
