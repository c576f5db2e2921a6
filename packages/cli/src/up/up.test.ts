import { stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { ownIdentity } from "@slipway/kernel/process-identity";
import { freePort } from "@slipway/testkit/free-port";
import { sampleOf } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DirectorProcess } from "../bosh-cli/testing/director-process.ts";
import { PROGRAMS } from "../bosh-cli/testing/requirements.ts";
import { isInstalled } from "../ui/command-text.ts";
import { CloudHome } from "./testing/machine.ts";

let machine: CloudHome;
let port: number;
beforeAll(async () => {
  machine = await CloudHome.open();
  port = await freePort();
});
afterAll(() => machine.close());

/** Each starts a Director of its own, or two. */
const ends = sampleOf(
  "ends of a Director",
  ["killed", "hung up", "down", "down after a kill", "elsewhere"],
  2,
);

/** The process that serves, by what `status` says. */
const serving = async () => (await machine.status()).process;

describe("slipway up, down and status", () => {
  it("status and down of a home where nothing ever ran say so", async () => {
    expect(await machine.status()).toMatchObject({ director: "stopped", database: "stopped", process: "" });
    expect(await machine.run("down")).toEqual({ code: 0, said: expect.stringContaining("Nothing runs in") });
  });

  it("an occupied port is reported with the program that has it, and what to do", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    try {
      for (const flags of sampleOf("up on a port", [[], ["--detach"]], 1)) {
        const { code, said } = await machine.run("up", "--port", String(port), ...flags);
        expect(code).toBe(1);
        expect(said).toContain(`port ${port} of 127.0.0.1 is in use by process ${process.pid}`);
        expect(said).toContain("--port N");
      }
    } finally {
      server.close();
    }
  });

  it("two at once in the background are one Director, and both say where it is", async () => {
    const flags = ["up", "--detach", "--port", String(port)];
    const both = await Promise.all([machine.run(...flags), machine.run(...flags)]);
    for (const { code, said } of both)
      expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining(`https://127.0.0.1:${port}`) });
    expect(await machine.status()).toMatchObject({
      director: `running at https://127.0.0.1:${port}`,
      process: expect.stringMatching(/^\d+$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      database: expect.stringMatching(/^running/),
      sandboxes: "none",
      disks: "0",
      state: machine.home,
    });
  });

  it("the environment file is its owner's alone, and what a shell reads from it reaches the Director", async () => {
    const file = join(machine.home, "env");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const names = [...(await machine.text("env")).matchAll(/^export (\w+)='[^']+'$/gm)].map(
      ([, name]) => name,
    );
    expect(names).toEqual([
      "SLIPWAY_HOME",
      "BOSH_ENVIRONMENT",
      "BOSH_CA_CERT",
      "BOSH_CLIENT",
      "BOSH_CLIENT_SECRET",
    ]);
    const { code, said } = await machine.run("env", "--json");
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('"user": "admin"') });
  });

  it("up again says that it runs, and leaves it alone", async () => {
    const before = await serving();
    for (const flags of sampleOf("up again", [[], ["--detach"], ["--port", String(port)]], 1)) {
      const { code, said } = await machine.run("up", ...flags);
      expect({ code, said }).toEqual({
        code: 0,
        said: expect.stringContaining(`runs already: process ${before}`),
      });
      expect(said).toContain(`. ${join(machine.home, "env")}`);
      // Who has no bosh CLI is told what to type instead, and first.
      expect(said.includes("Try next:")).toBe(!isInstalled("bosh", process.env));
    }
    const other = await machine.run("up", "--port", String(port + 1));
    expect(other).toEqual({ code: 1, said: expect.stringContaining("CLU-003") });
    expect(await serving()).toBe(before);
  });

  it.runIf(ends.includes("killed"))(
    "after kill -9 the database runs on, and the next up takes it over, on the same port, with the same secrets",
    async () => {
      const env = await machine.text("env");
      const database = (await machine.status()).database;
      process.kill(Number(await serving()), "SIGKILL");
      await expect
        .poll(() => machine.status())
        .toMatchObject({ director: "stopped (it was killed)", database });
      const up = machine.start("up");
      await up.says("Ctrl-C stops it");
      expect(up.output).toContain("taken over");
      expect(await machine.text("env")).toBe(env);
      expect((await machine.status()).database).toBe(database);
      up.interrupt();
      up.interrupt();
      expect(await up.end()).toBe(0);
      expect(machine.processes()).toEqual([]);
    },
  );

  it.runIf(ends.includes("hung up"))("a terminal that is closed stops it as Ctrl-C does", async () => {
    await machine.run("down");
    const up = machine.start("up");
    await up.says("Ctrl-C stops it");
    up.hangUp();
    expect(await up.end()).toBe(0);
    expect(machine.processes()).toEqual([]);
  });

  it("down leaves nothing of one that ran before, whatever became of it", async () => {
    expect((await machine.run("down")).code).toBe(0);
    expect(machine.processes()).toEqual([]);
  });

  const downs = [false, true].filter((kill) => ends.includes(kill ? "down after a kill" : "down"));
  it.runIf(downs.length > 0)(
    "down ends one in the background, or the database of one that was killed, and nothing is left",
    async () => {
      for (const kill of downs) {
        expect((await machine.run("up", "--detach")).code).toBe(0);
        const pid = await serving();
        if (kill) process.kill(Number(pid), "SIGKILL");
        const { code, said } = await machine.run("down");
        expect({ code, said }).toEqual({
          code: 0,
          said: expect.stringContaining(kill ? "the database a killed Director had left" : `process ${pid}`),
        });
        expect(machine.processes()).toEqual([]);
        expect(await machine.status()).toMatchObject({ director: "stopped", database: "stopped" });
      }
    },
  );

  it("a process that only has the number of an earlier one is never ended", async () => {
    const identity = { ...ownIdentity(), started: "1" };
    await writeFile(join(machine.home, "running.json"), JSON.stringify({ process: identity, since: 0 }));
    expect(await machine.run("down")).toEqual({ code: 0, said: expect.stringContaining("Nothing runs") });
  });

  it("a failure in the background is shown with the end of its log", async () => {
    const config = join(machine.home, "director.json");
    await writeFile(config, JSON.stringify({ listen: { names: ["not a name"] } }));
    const { code, said } = await machine.run("up", "--detach", "--config", config);
    expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining("DIA-004") });
    expect(said).toContain(join(machine.home, "director.log"));
    // What it had begun to start ends with it.
    await expect.poll(() => machine.processes()).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)(
    "a home that root's database cannot reach is refused, with what `up` takes to put it right",
    async () => {
      const closed = await CloudHome.open({ below: "private" });
      try {
        const { code, said } = await closed.run("up", "--port", String(await freePort()));
        expect(code).toBe(1);
        expect(said).toMatch(/CLU-009 .*private lets nobody else through/);
        expect(said).toMatch(/next: Set SLIPWAY_HOME .*: chmod o\+x .*private$/m);
        expect(said).not.toContain("state_dir");
      } finally {
        await closed.close();
      }
    },
  );

  it.runIf(ends.includes("elsewhere"))(
    "a directory that another Director works in is said to be in use",
    async () => {
      const state = join(machine.home, "director");
      const config = join(machine.home, "director.json");
      await writeFile(config, JSON.stringify({ cpi: { exec_path: PROGRAMS.cpi } }));
      const flags = ["--config", config, "--state-dir", state, "--port", "0"];
      const other = await DirectorProcess.start(PROGRAMS.director, flags);
      try {
        const { code, said } = await machine.run("up");
        expect({ code, said }).toEqual({
          code: 1,
          said: expect.stringMatching(/DIS-001 .*: process \d+$/m),
        });
      } finally {
        await other.stop();
      }
    },
  );
});
