import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../testing/run-cli.ts";
import { unitText } from "./unit.ts";

const analyze = await systemExec("systemd-analyze", ["--version"]).then(
  ({ code }) => code === 0,
  () => false,
);

let dir: string;
beforeEach(async () => {
  const { path, remove } = await temporaryDirectory();
  dir = path;
  return remove;
});

/** A systemctl that notes how it is called, and answers as systemd does. */
async function systemctl(says = "running"): Promise<Record<string, string>> {
  const bin = join(dir, "bin");
  await mkdir(bin);
  const script = `#!/bin/sh\necho "$*" >> ${dir}/calls\ncase "$*" in *is-system-running) echo ${says} ;; *is-active*) echo active ;; *is-enabled*) echo enabled ;; esac\n`;
  await writeFile(join(bin, "systemctl"), script);
  await chmod(join(bin, "systemctl"), 0o755);
  return { PATH: `${bin}:/usr/bin:/bin`, XDG_CONFIG_HOME: join(dir, "config"), HOME: dir };
}
const calls = async () => (await readFile(join(dir, "calls"), "utf8")).trim().split("\n");
const unit = () => join(dir, "config/systemd/user/slipway.service");

describe("slipway service", () => {
  it("installs a unit of the user, starts it, shows it, and removes it", async () => {
    const env = await systemctl();
    const run = (...args: string[]) =>
      runCli(["service", ...args, "--user"], { env, home: join(dir, "my home") });
    const { code, out } = await run("install");
    expect([code, out]).toEqual([0, expect.stringContaining(`Installed ${unit()}`)]);
    expect(await readFile(unit(), "utf8")).toContain(`Environment="SLIPWAY_HOME=${dir}/my home"`);
    expect(await calls()).toEqual([
      "--user is-system-running",
      "--user daemon-reload",
      "--user enable --now slipway",
    ]);
    expect((await run("status")).out).toMatch(/Active\s+active/);
    expect((await run("uninstall")).code).toBe(0);
    expect((await calls()).slice(-2)).toEqual(["--user disable --now slipway", "--user daemon-reload"]);
    expect((await run("status")).out).toMatch(/Installed\s+no/);
    expect((await run("uninstall")).err).toContain("CLU-052");
  });

  it("leaves a unit alone that it has not made", async () => {
    const env = await systemctl();
    await mkdir(join(dir, "config/systemd/user"), { recursive: true });
    await writeFile(unit(), "[Service]\n");
    for (const command of ["install", "uninstall"])
      expect((await runCli(["service", command, "--user"], { env, home: dir })).err).toContain("CLU-051");
    expect(await readFile(unit(), "utf8")).toBe("[Service]\n");
  });

  it("writes nothing where systemd does not run", async () => {
    const env = await systemctl("offline");
    const { code, err } = await runCli(["service", "install", "--user"], { env, home: dir });
    expect([code, err]).toEqual([1, expect.stringContaining("CLU-050")]);
    await expect(readFile(unit())).rejects.toThrow("ENOENT");
  });

  it("refuses a name that would leave the directory of units", async () => {
    const { err } = await runCli(["service", "status", "--user", "--name", "../x"], { home: dir });
    expect(err).toContain("CLU-053");
  });

  it.runIf(needs("systemd-analyze", analyze, "systemd-analyze checks units"))(
    "prints a unit that systemd accepts, whatever the paths",
    async () => {
      const { path, remove } = await temporaryDirectory();
      onTestFinished(remove);
      for (const scope of ["user", "system"] as const) {
        const file = join(path, `${scope}.service`);
        const home = '/srv/a b/100%/$HOME/"q"';
        await writeFile(file, unitText({ scope, command: ["/bin/sh", "-c", "exit 0"], home }));
        const { code, stdout, stderr } = await systemExec("systemd-analyze", ["verify", file]);
        expect({ code, said: `${stdout}${stderr}`.includes(`${scope}.service`) ? stderr : "" }).toEqual({
          code: 0,
          said: "",
        });
      }
    },
  );
});
