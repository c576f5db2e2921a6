import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it } from "vitest";
import { ERRAND_RELEASE } from "./testing/errand-release.ts";
import { uploadReleaseDirectory, writeRelease } from "./testing/release-dir.ts";
import { canPlay, PROGRAMS } from "./testing/requirements.ts";
import { ADMIN, openWorld } from "./testing/world.ts";

/** The CLI takes port 22 for given, which sandboxes have in networks of their own; these take root. */
const canEnter = async () =>
  (await canPlay()) &&
  needs(
    "sshd",
    existsSync("/usr/sbin/sshd") && existsSync("/usr/bin/ssh") && process.getuid?.() === 0,
    "openssh-server, its client, and root for port 22",
  );

describe.runIf(await canEnter())("ways into VMs with the real CLI", () => {
  const world = openWorld({ ownNetwork: true });
  const login = () => ({
    HOME: join(world().dir, "home"),
    PATH: process.env.PATH ?? "",
    BOSH_ENVIRONMENT: world().director.url,
    BOSH_CA_CERT: world().state("pki", "ca.crt"),
    BOSH_CLIENT: ADMIN.name,
    BOSH_CLIENT_SECRET: ADMIN.password,
  });
  const slipway = (...command: readonly string[]) =>
    systemExec(process.execPath, [PROGRAMS.slipway, "-d", "shop", ...command], { env: login() });
  /** The real CLI with its words as they come, until it is stopped. */
  const boshText = (...command: readonly string[]) => {
    const child = spawn(process.env.SLIPWAY_BOSH ?? "", ["-n", "-d", "shop", ...command], { env: login() });
    let text = "";
    child.stdout.on("data", (piece: Buffer) => {
      text += piece.toString();
    });
    const over = once(child, "close");
    return {
      said: () => text,
      stop: async () => {
        child.kill("SIGINT");
        await over;
      },
    };
  };
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);

  it("runs a command in one VM, and in all of a group", async () => {
    await world().seed();
    const release = join(world().dir, "checks");
    await writeRelease(release, ERRAND_RELEASE);
    await uploadReleaseDirectory(world(), release);
    const jobs = [{ name: "talker", release: "checks" }];
    await world().deploy("shop", [{ name: "web", instances: 2, jobs }]);
    const { rows } = await shop("ssh", "web/0", "-c", "echo I am $(hostname) in $PWD", "--results");
    expect(rows).toHaveLength(1);
    expect(rows[0]?.stdout).toContain("I am ");
    expect(rows[0]?.exit_code).toBe("0");
    const both = await shop("ssh", "web", "-c", "ls /var/vcap/bosh", "--results");
    expect(both.rows.map(({ exit_code: code }) => code)).toEqual(["0", "0"]);
  });

  it("copies files in and out", async () => {
    const mine = join(world().dir, "mine.txt");
    await writeFile(mine, "from outside");
    await shop("scp", mine, "web/0:/var/vcap/data/theirs.txt");
    const back = join(world().dir, "back.txt");
    await shop("scp", "web/0:/var/vcap/data/theirs.txt", back);
    expect(await readFile(back, "utf8")).toBe("from outside");
  });

  it("reaches the jobs: their files, their processes, the last lines of their logs, and what they write next", async () => {
    const pid = await shop(
      "ssh",
      "web/0",
      "-c",
      "ps -p $(cat /var/vcap/sys/run/talker/talker.pid) -o comm=",
      "--results",
    );
    expect(pid.rows).toMatchObject([{ stdout: expect.stringContaining("sleep"), exit_code: "0" }]);
    const ctl = join(world().dir, "ctl");
    await shop("scp", "web/0:/var/vcap/jobs/talker/bin/ctl", ctl);
    expect(await readFile(ctl, "utf8")).toContain("talker $1");
    const last = await world().bosh.say("-d", "shop", "logs", "web/0", "--num", "1", "--job", "talker");
    expect(last.text).toContain("talker start");
    expect(last.text).toContain("nothing wrong");
    const follows = boshText("logs", "web/0", "-f", "--job", "talker");
    await expect
      .poll(
        async () => {
          await shop("ssh", "web/0", "-c", "echo more >> /var/vcap/sys/log/talker/talker.log");
          return follows.said();
        },
        { timeout: 30_000 },
      )
      .toMatch(/stdout \| more/);
    await follows.stop();
  });

  it("are the same with slipway: a command, files, and the last lines of logs", async () => {
    const { code, stdout } = await slipway("ssh", "web", "-c", "echo ahoy; echo alas >&2");
    expect(code).toBe(0);
    const said = stdout.trim().split("\n").sort();
    expect(said.filter((line) => /^web\/[0-9a-f-]{36}: stdout \| ahoy$/.test(line))).toHaveLength(2);
    expect(said.filter((line) => /: stderr \| alas$/.test(line))).toHaveLength(2);
    const failed = await slipway("ssh", "web/0", "-c", "exit 3");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("the command ended with 3");
    const to = join(world().dir, "again.txt");
    expect((await slipway("scp", "web/0:/var/vcap/data/theirs.txt", to)).code).toBe(0);
    expect(await readFile(to, "utf8")).toBe("from outside");
    await slipway("ssh", "web/1", "-c", "mkdir -p /var/vcap/sys/log/w; seq 9 > /var/vcap/sys/log/w/w.log");
    const last = await slipway("logs", "web/1", "--num", "2");
    expect(last.stdout.match(/\| \d/g)).toEqual(["| 8", "| 9"]);
    expect((await slipway("logs", "web/1", "--num", "2", "--job", "other")).stdout).toContain("no such logs");
    const shell = await slipway("ssh");
    expect(shell.stderr).toContain("2 instances are meant");
  });

  it("brings logs with slipway as an archive", async () => {
    const dir = join(world().dir, "archives");
    await mkdir(dir);
    const { code, stdout } = await slipway("logs", "web/1", "--dir", dir);
    expect(code).toBe(0);
    const [name = ""] = await readdir(dir);
    expect(name).toMatch(/^shop\.web\.1-\d{8}-\d{6}\.tgz$/);
    expect(stdout).toContain(`Downloaded logs to '${join(dir, name)}'`);
    const { stdout: listed } = await systemExec("tar", ["-tzf", join(dir, name)]);
    expect(listed).toContain("./w/w.log");
  });

  it("leaves no users, and the events tell who came", async () => {
    const [first] = await world().instances("shop");
    const homes = world().cloud("vms", first?.vm_cid ?? "", "vcap", "bosh_ssh");
    // Nobody waits for the end of that task.
    await expect.poll(() => readdir(homes), { timeout: 10_000 }).toEqual([]);
    const events = await world().bosh.rows("events", "--instance", first?.instance ?? "");
    const actions = events.map(({ action }) => action);
    expect(actions).toContain("setup ssh");
    await expect
      .poll(async () => (await world().bosh.rows("events")).some(({ action }) => action === "cleanup ssh"))
      .toBe(true);
  });

  it("says which instances there are none of", async () => {
    const refused = await world().bosh.refused("-d", "shop", "ssh", "web/9", "-c", "true");
    expect(refused).toContain("No instance with a VM in deployment 'shop' matched filter");
  });
});
