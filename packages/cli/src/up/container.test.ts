import { spawnSync } from "node:child_process";
import { Child } from "@slipway/testkit/child";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PROGRAMS } from "../bosh-cli/testing/requirements.ts";
import { CloudHome } from "./testing/machine.ts";

const asRoot = process.getuid?.() === 0;
const AS_USER = asRoot ? [] : ["--user", "--map-current-user"];
/** Runs a program as a container does: in its own pid namespace, which ends with its first process. */
const CONTAINER = ["unshare", ...AS_USER, "--pid", "--fork", "--mount-proc", "--kill-child"];
const works = spawnSync("unshare", [...CONTAINER.slice(1), "true"]).status === 0;

let machine: CloudHome;
let container: Child;
beforeEach(async () => {
  machine = await CloudHome.open();
  const env = ["env", `HOME=${machine.home}`, `SLIPWAY_HOME=${machine.home}`];
  const up = [process.execPath, PROGRAMS.slipway, "up", "--port", String(await freePort())];
  const [program = "", ...args] = [...CONTAINER, ...env, ...up];
  container = new Child(program, args);
});
afterEach(async () => {
  await container.kill();
  await machine.close();
});

describe.runIf(needs(asRoot ? "pid-namespaces" : "userns", works))("slipway up in a container", () => {
  it("starts again in another container, or outside, after the container was killed", async () => {
    expect(await container.line()).toContain("The Director listens at");
    expect(await machine.run("down")).toMatchObject({ code: 1, said: expect.stringContaining("CLU-011") });
    await container.kill();
    await expect.poll(async () => (await machine.status()).director).toBe("stopped (it was killed)");
    expect(await machine.run("up", "--detach")).toMatchObject({ code: 0 });
    expect(await machine.run("down")).toMatchObject({ code: 0 });
  });
});
