import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../testing/run-cli.ts";

let home: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: home, remove } = await temporaryDirectory());
});
afterEach(() => remove());

/** A home as a stopped Director leaves it, with a disk. */
async function used(): Promise<void> {
  for (const dir of ["director/database", "cloud/disks/disk-1/content", "cloud/vms", "demo"])
    await mkdir(join(home, dir), { recursive: true });
  for (const file of ["env", "port", "cpi.json", "logins.json", "director.log", "director.log.1"])
    await writeFile(join(home, file), file === "cpi.json" ? '{"cpi":"local"}' : "x");
}

describe("slipway down --remove", () => {
  it("removes everything of a home, after saying what it is", async () => {
    await used();
    const { code, out } = await runCli(["down", "--remove", "-n"], { home });
    expect(out).toContain("1 disk");
    expect(out).toContain(`Removed ${home}.`);
    expect(code).toBe(0);
    await expect(readdir(home)).rejects.toThrow("ENOENT");
  });

  it("asks first: without an answer nothing is touched", async () => {
    await used();
    const { code, err } = await runCli(["down", "--remove"], { home });
    expect([code, err]).toEqual([1, expect.stringContaining("CLI-030")]);
    expect(await readdir(home)).toContain("cloud");
  });

  it("keeps what is not slipway's, and names it", async () => {
    await used();
    await writeFile(join(home, "thesis.txt"), "mine");
    const { out } = await runCli(["down", "--remove", "-n"], { home });
    expect(out).toContain("kept: thesis.txt");
    expect(await readdir(home)).toEqual(["thesis.txt"]);
  });

  it("removes the state that a restore has moved aside, which has the old keys", async () => {
    await used();
    await mkdir(join(home, "director.before-restore-20261118T101112Z", "database"), { recursive: true });
    const { out } = await runCli(["down", "--remove", "-n"], { home });
    expect(out).toContain(`Removed ${home}.`);
    await expect(readdir(home)).rejects.toThrow("ENOENT");
  });

  it("does not leave containers behind without a record", async () => {
    await used();
    const choice = {
      cpi: "docker",
      host: `unix://${home}/no.sock`,
      engine: "e",
      volume: "slipway-disks-00000000",
    };
    await writeFile(join(home, "cpi.json"), JSON.stringify(choice));
    const { code, err } = await runCli(["down", "--remove", "-n"], { home });
    expect([code, err]).toEqual([1, expect.stringContaining("CLU-012")]);
    expect(await readdir(home)).toContain("director");
  });
});
