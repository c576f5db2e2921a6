import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { plays } from "@slipway/testkit/stories";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROGRAMS } from "../bosh-cli/testing/requirements.ts";
import { CloudHome } from "../up/testing/machine.ts";
import { hasTmux, Tmux } from "./testing/tmux.ts";

const possible =
  needs("tmux", await hasTmux(), "`watch` is looked at in a terminal") &&
  needs("userns", await canUseSandboxes(), "sandboxes are made of namespaces");

/** Nothing takes nearly as long. */
const WITHIN = { timeout: 180_000, interval: 300 };

describe.runIf(possible && plays("director", "watch"))("slipway watch in a terminal", () => {
  let machine: CloudHome;
  let tmux: Tmux;
  let up: readonly string[];
  const shows = (pattern: RegExp) => expect.poll(() => tmux.screen(), WITHIN).toMatch(pattern);

  beforeAll(async () => {
    machine = await CloudHome.open();
    const port = await freePort();
    const config = join(machine.home, "..", "director.json");
    await writeFile(config, JSON.stringify({ health: { interval_s: 1, unresponsive_after_s: 3 } }));
    up = ["up", "--detach", "--port", String(port), "--config", config];
    expect(await machine.run(...up)).toMatchObject({ code: 0 });
    expect(await machine.run("demo", "--range", `127.142.${port & 0xff}.0/24`)).toMatchObject({ code: 0 });
    tmux = new Tmux(join(machine.home, "..", "tmux"));
    const env = { SLIPWAY_HOME: machine.home, HOME: machine.home };
    const command = `'${process.execPath}' '${PROGRAMS.slipway}' -d demo watch --interval 0.5`;
    await tmux.start(command, env, { columns: 80, rows: 24 });
  });
  afterAll(async () => {
    await tmux?.close();
    await machine?.close();
  });

  it("shows instances with their addresses and processes, and what has happened", async () => {
    await shows(/^demo .* UTC$/m);
    await shows(/^● counter\/0 +running +127\.142\.\d+\.\d+ +1\/1 /m);
    await shows(/^Events$/m);
    expect((await tmux.screen("-e")).includes("\x1b[32m")).toBe(true);
  });

  it("follows a task, and what becomes of an instance", async () => {
    const task = machine.start("-n", "-d", "demo", "restart", "visitor/0", "--no-converge");
    await shows(/^[▸✓] \d+ restart instance/m);
    expect(await task.end()).toBe(0);
    await shows(/restart instance visitor\/0 done \(task \d+\)/);
  });

  it("says what is wrong with one, since when and what is being done, above the others", async () => {
    expect((await machine.run("update-resurrection", "off")).code).toBe(0);
    const vms = join(machine.home, "cloud", "vms");
    const [first = ""] = await readdir(vms);
    process.kill(Number(await readFile(join(vms, first, "pid"), "utf8")), "SIGKILL");
    await shows(/^✗ \w+\/0 +unresponsive .*\n +for \d+s: agent /m);
    await shows(/→ nothing: resurrection is off/);
    await shows(/^● \w+\/0 +running/m);
  });

  it("fits into windows of other sizes, and scrolls", async () => {
    await tmux.resize({ columns: 40, rows: 8 });
    await shows(/^✗ \w+\/0 (?:.*\n)*q quit$/m);
    await expect.poll(() => tmux.screen(), WITHIN).not.toContain("Events");
    await tmux.resize({ columns: 40, rows: 6 });
    await shows(/↓ and 1 more/);
    await tmux.press("End");
    await shows(/● \w+\/0/);
    await tmux.resize({ columns: 200, rows: 50 });
    await shows(/^ {2}Instance +State .* VM +Processes$/m);
    const headings = async () =>
      (await tmux.screen()).split("\n").filter((line) => line.startsWith("demo ")).length;
    await expect.poll(headings, WITHIN).toBe(1);
  });

  it("says that the Director is away, and goes on when it is back", async () => {
    expect((await machine.run("down")).code).toBe(0);
    await shows(/The Director does not answer: .*Below: as of/);
    expect((await machine.run(...up)).code).toBe(0);
    await shows(/ UTC$/m);
    await expect.poll(() => tmux.screen(), WITHIN).not.toMatch(/does not answer/);
  });

  it("gives the screen back at q, with what was there before", async () => {
    await tmux.press("q");
    await shows(/Using environment.*ended with 0/s);
    expect(await tmux.screen()).not.toContain("counter/0");
  });

  it("Ctrl-C ends it the same way, and NO_COLOR leaves out colours", async () => {
    await tmux.close();
    const env = { SLIPWAY_HOME: machine.home, HOME: machine.home, NO_COLOR: "1" };
    await tmux.start(`'${process.execPath}' '${PROGRAMS.slipway}' watch`, env, { columns: 100, rows: 30 });
    await shows(/^all deployments/m);
    await shows(/demo +counter\/0/);
    expect(await tmux.screen("-e")).not.toContain("\x1b[3");
    await tmux.press("C-c");
    await shows(/ended with 130/);
  });
});
