import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { UaaServer } from "@slipway/testkit/uaa-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bosh } from "./testing/bosh.ts";
import { cloudConfig } from "./testing/documents.ts";
import { canPlay } from "./testing/requirements.ts";
import { makeStemcell } from "./testing/stemcell.ts";
import { BoshWorld } from "./testing/world.ts";

const SECRET = "CANARY-of-the-client";
const PASSWORD = "CANARY-of-ada";

/** The unmodified CLI gets tokens of UAA's form from a server that speaks as UAA does. */
describe.runIf(await canPlay())("the real CLI and a Director with a UAA", () => {
  let uaa: UaaServer;
  let world: BoshWorld;
  let ci: Bosh;
  beforeAll(async () => {
    uaa = await UaaServer.start({
      clients: {
        ci: { secret: SECRET, scopes: ["bosh.admin"] },
        shop: { secret: SECRET, scopes: ["bosh.teams.shop.admin"] },
        bank: { secret: SECRET, scopes: ["bosh.teams.bank.admin"] },
        watcher: { secret: SECRET, scopes: ["bosh.teams.shop.read"] },
      },
      users: { ada: { secret: PASSWORD, scopes: ["bosh.read", "openid"] } },
    });
    world = await BoshWorld.open({ config: { uaa: { url: uaa.url, ca: uaa.ca } } });
    const ca = join(world.dir, "both.pem");
    await writeFile(ca, `${await readFile(world.state("pki", "ca.crt"), "utf8")}\n${uaa.ca}`);
    const home = join(world.dir, "home");
    const login = { url: world.director.url, ca, user: "ci", password: SECRET, home };
    ci = new Bosh(process.env.SLIPWAY_BOSH ?? "", login);
  });
  afterAll(async () => {
    await world?.close();
    await uaa.close();
  });
  const as = (client: string) => ci.as(client, SECRET);

  it("a client comes in with a token, and is who does it", async () => {
    expect(await ci.rows("env")).toMatchObject([{ name: "story", user: "ci" }]);
    const config = await world.file("cloud.yml", cloudConfig(world.net));
    await ci.run("update-config", "--type", "cloud", "--name", "default", config);
    expect(await ci.rows("events", "--object-type", "config/cloud")).toMatchObject([{ user: "ci" }]);
  });

  it("one that the UAA does not know is told so", async () => {
    expect(await ci.as("ci", "wrong").refused("env")).toMatch(/[Uu]nauthorized/);
  });

  it("teams see and change what is theirs", async () => {
    await ci.run("upload-stemcell", (await makeStemcell(world.dir, "1.0")).file);
    const manifest = await world.manifest("shop", { name: "web" });
    // Less than the deploy takes.
    uaa.lastsS = 5;
    await as("shop").run("deploy", "-d", "shop", manifest);
    uaa.lastsS = 120;
    expect(await as("shop").rows("deployments")).toMatchObject([{ name: "shop", team_s: "shop" }]);
    expect(await as("bank").rows("deployments")).toEqual([]);
    expect(await as("bank").refused("deploy", "-d", "shop", manifest)).toContain("bosh.teams.shop.admin");
    expect(await as("bank").refused("stop", "-d", "shop")).toContain("600000");
    await as("watcher").run("instances", "-d", "shop");
    expect(await as("watcher").refused("stop", "-d", "shop")).toContain("600000");
    expect(await as("shop").rows("tasks", "--recent")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ user: "shop", deployment: "shop", description: "create deployment" }),
      ]),
    );
    expect(await as("bank").rows("tasks", "--recent")).toEqual([]);
    await as("shop").run("delete-deployment", "-d", "shop");
  });

  it("somebody who logs in has tokens that are refreshed", async () => {
    const home = join(world.dir, "home");
    const env = {
      HOME: home,
      BOSH_ENVIRONMENT: world.director.url,
      BOSH_CA_CERT: join(world.dir, "both.pem"),
    };
    const typed = `printf 'ada\\n${PASSWORD}\\n' | ${process.env.SLIPWAY_BOSH} log-in --tty`;
    const logIn = async () => {
      const { code, stdout } = await systemExec("sh", ["-c", typed], {
        env: { ...env, PATH: process.env.PATH ?? "" },
      });
      expect(stdout).toContain("Successfully authenticated with UAA");
      expect(code).toBe(0);
    };
    await logIn();
    const ada = ci.as(undefined, undefined);
    // With an expired token `env` is answered as well, without a user.
    expect(await ada.rows("env")).toMatchObject([{ user: "ada" }]);
    uaa.lastsS = 5;
    await logIn();
    await expect
      .poll(async () => {
        await ada.rows("deployments");
        return uaa.asked.includes("POST /oauth/token refresh_token");
      })
      .toBe(true);
    expect(await ada.refused("delete-disk", "none")).toContain("600000");
    await ada.run("log-out");
  });

  it("the Director's log and its records have neither tokens nor secrets", async () => {
    const log = world.director.output;
    expect(log).not.toContain("CANARY");
    expect(log).not.toContain("eyJ");
  });
});
