import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { socksServer } from "@slipway/testkit/socks-server";
import { sshKey } from "@slipway/testkit/ssh-login";
import { afterAll, describe, expect, it } from "vitest";
import { ERRAND_RELEASE } from "./testing/errand-release.ts";
import { type Gateway, openGateway, socksThrough, writeConnectProxy } from "./testing/gateway.ts";
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

/** A capture of one packet without content, until it is stopped. */
const TCPDUMP = `#!/bin/sh
echo "$@" > /var/vcap/data/tcpdump
printf '\\324\\303\\262\\241\\2\\0\\4\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\4\\0\\1\\0\\0\\0'
printf '\\0\\0\\0\\0\\0\\0\\0\\0\\16\\0\\0\\0\\16\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0'
exec sleep 600
`;

interface Results {
  readonly Tables: readonly { readonly Rows: readonly Readonly<Record<string, string>>[] }[];
}

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
        const [code] = (await over) as [number | null];
        return code;
      },
    };
  };
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);
  /** In all VMs: a user that stays, as one of a stemcell does. The CLI's own goes with each command. */
  const order = async (command: "setup" | "cleanup", params: object) => {
    const target = { ids: [], indexes: [] };
    const body = await world().file("ssh.json", { command, deployment_name: "shop", target, params });
    const flags = ["--method=POST", "--header=Content-Type: application/json", `--body=${body}`];
    await world().bosh.run("curl", "/deployments/shop/ssh", ...flags);
    await expect.poll(() => world().bosh.rows("tasks")).toEqual([]);
  };
  let gateway: Gateway | undefined;
  const through = async (): Promise<Gateway> => {
    gateway ??= await openGateway(join(world().dir, "gateway"));
    return gateway;
  };
  afterAll(() => gateway?.stop());

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
    await shop("scp", "-r", "web/0:/var/vcap/jobs/talker", join(world().dir, "talker"));
    expect(await readdir(join(world().dir, "talker"))).toContain("bin");
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
    expect(last.text).toContain("==> ");
    const quiet = await world().bosh.run("-d", "shop", "logs", "web/0", "--num=1", "--job=talker", "--quiet");
    expect(quiet.text).toContain("nothing wrong");
    expect(quiet.text).not.toContain("==> ");
    const follows = boshText("logs", "web/0", "-f", "--job", "talker");
    await expect
      .poll(async () => {
        await shop("ssh", "web/0", "-c", "echo more >> /var/vcap/sys/log/talker/talker.log");
        return follows.said();
      })
      .toMatch(/stdout \| more/);
    await follows.stop();
  });

  it("takes a key and a user of one's own, and options of ssh", async () => {
    const { path, key } = await sshKey(world().dir, "own");
    await order("setup", { user: "bosh_kept", public_key: key });
    const own = ["--private-key", path, "--username", "bosh_kept"];
    const { rows } = await shop(
      "ssh",
      "web/1",
      ...own,
      "--opts=-oSetEnv=LC_ALL=C",
      "-c",
      "echo $USER",
      "--results",
    );
    expect(rows[0]?.stdout).toContain("bosh_kept");
    const to = join(world().dir, "by-key.txt");
    await shop("scp", ...own, "web/0:/var/vcap/data/theirs.txt", to);
    expect(await readFile(to, "utf8")).toBe("from outside");
    // An option that ssh does not have shows that it is handed on.
    expect(
      await world().bosh.refused("-d", "shop", "ssh", "web/1", "--opts=-oNoSuch=1", "-c", "true"),
    ).toMatch(/exit status 255|NoSuch/);
  });

  it("goes through another host, unless that is switched off", async () => {
    const { host, user, key, passed } = await through();
    const gate = [`--gw-host=${host}`, `--gw-user=${user}`, `--gw-private-key=${key}`];
    const nowhere = ["--gw-host=192.0.2.1", "--gw-user=nobody", "--gw-disable"];
    const to = join(world().dir, "through.txt");
    for (const command of [
      ["ssh", "web/0", "-c", "true"],
      ["scp", "web/0:/var/vcap/data/theirs.txt", to],
      ["logs", "web/0", "--num=1"],
    ]) {
      const before = await passed();
      await shop(...command, ...gate);
      expect(await passed()).toBe(before + 1);
      await shop(...command, ...nowhere);
      expect(await passed()).toBe(before + 1);
    }
    expect(await readFile(to, "utf8")).toBe("from outside");
  });

  it("goes through a SOCKS5 proxy", async () => {
    const proxy = await socksThrough(await through());
    const bin = join(world().dir, "bin");
    await writeConnectProxy(bin);
    const { passed } = await through();
    const before = await passed();
    const to = join(world().dir, "socks.txt");
    for (const command of [
      // Which switches off other hosts alone.
      ["ssh", "web/0", "-c", "true", "--gw-disable"],
      ["scp", "web/0:/var/vcap/data/theirs.txt", to],
      ["logs", "web/0", "--num=1"],
    ]) {
      const env = { ...login(), PATH: `${bin}:${process.env.PATH}` };
      const argv = ["-n", "-d", "shop", ...command, `--gw-socks5=${proxy.url}`];
      const { code, stderr } = await systemExec(process.env.SLIPWAY_BOSH ?? "", argv, { env });
      expect(`${code} ${code === 0 ? "" : stderr}`).toBe("0 ");
    }
    expect(await passed()).toBe(before + 3);
    expect(await readFile(to, "utf8")).toBe("from outside");
    await proxy.stop();
  });

  // Sandboxes bring no tcpdump: one that tells how it was called, and captures one packet, stands in for it.
  it("captures packets, where the VM has tcpdump", async () => {
    const [{ vm_cid: cid = "" } = {}] = (await world().instances("shop")).filter(
      ({ index }) => index === "0",
    );
    const tcpdump = world().cloud("vms", cid, "vcap", "bosh", "ssh", "bin", "tcpdump");
    await writeFile(tcpdump, TCPDUMP, { mode: 0o755 });
    await chmod(tcpdump, 0o755);
    const to = join(world().dir, "web.pcap");
    // The CLI takes the flags of gateways here too, and goes straight to the VM.
    const unused = ["--gw-host=192.0.2.1", "--gw-user=nobody", "--gw-private-key=none", "--gw-socks5=none"];
    const what = [
      "--interface=lo",
      "--filter=port 80",
      "--snaplen=77",
      "--stop-timeout=100ms",
      "--output",
      to,
    ];
    const capture = boshText("pcap", "web/0", ...what, "--gw-disable", ...unused);
    const size = async () => (await stat(to).catch(() => ({ size: 0 }))).size;
    await expect.poll(size).toBe(24 + 16 + 14);
    expect(await capture.stop()).toBe(0);
    const { rows } = await shop("ssh", "web/0", "-c", "cat /var/vcap/data/tcpdump", "--results");
    expect(rows[0]?.stdout).toMatch(/^-w - -i lo -s 77 not \(host \S+ and port \d+\) and \(port 80\)/);
  });

  it("are the same with slipway: packets of both VMs in one file, until Ctrl-C", async () => {
    const rows = await world().instances("shop");
    const at = (cid: string, ...path: readonly string[]) => world().cloud("vms", cid, "vcap", ...path);
    for (const { vm_cid: cid } of rows) {
      const tcpdump = at(cid ?? "", "bosh", "ssh", "bin", "tcpdump");
      // Not the one that the other CLI may have left.
      await writeFile(tcpdump, TCPDUMP.replace("600", "601"));
      await chmod(tcpdump, 0o755);
      await rm(at(cid ?? "", "data", "tcpdump"), { force: true });
    }
    const to = join(world().dir, "both.pcap");
    const { host, user, key, passed } = await through();
    const gate = [`--gw-host=${host}`, `--gw-user=${user}`, `--gw-private-key=${key}`];
    const before = await passed();
    const what = ["-i", "lo", "-f", "port 80", "-s", "77", "-o", to];
    const argv = [PROGRAMS.slipway, "-d", "shop", "pcap", ...what, ...gate];
    // A group of its own, as at a terminal: Ctrl-C comes to ssh too.
    const child = spawn(process.execPath, argv, { env: login(), detached: true });
    const over = once(child, "close");
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Buffer) => {
        said += piece.toString();
      });
    await expect.poll(() => said).toContain("Capturing in 2 VMs");
    const found = async () => (await slipway("ssh", "web", "-c", "pgrep -fx 'sleep 601'")).stdout;
    // They have sent all they have.
    await expect.poll(async () => (await found()).match(/stdout \| \d+/g)).toHaveLength(2);
    process.kill(-(child.pid ?? 0), "SIGINT");
    expect(await over).toEqual([0, null]);
    expect(said).toContain(`2 packets from 2 VMs are in '${to}'`);
    expect(await passed()).toBe(before + 2);
    expect((await stat(to)).size).toBe(24 + 2 * (16 + 14));
    for (const { vm_cid: cid } of rows)
      expect(await readFile(at(cid ?? "", "data", "tcpdump"), "utf8")).toMatch(
        /^-U -w - -i lo -s 77 not \(host \S+ and port \d+\) and \(port 80\)/,
      );
    expect(await found()).not.toContain("stdout");
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
    const results = JSON.parse(
      (await slipway("ssh", "web", "-r", "-c", "echo $USER; exit 4", "--json")).stdout,
    ) as Results;
    expect(results.Tables[0]?.Rows.map(({ exit_code: ended }) => ended)).toEqual(["4", "4"]);
    expect(results.Tables[0]?.Rows[0]).toMatchObject({ stdout: expect.stringMatching(/^bosh_/), stderr: "" });
    const shell = await slipway("ssh");
    expect(shell.stderr).toContain("2 instances are meant");
  });

  it("are the same with slipway: a key and a user of one's own, and another host to go through", async () => {
    const { host, user, key, passed } = await through();
    const own = join(world().dir, "own");
    const before = await passed();
    const { stdout } = await slipway("ssh", "web/0", "-i", own, "-l", "bosh_kept", "-c", "echo $USER");
    expect(stdout).toContain("stdout | bosh_kept");
    expect((await slipway("ssh", "web/7", "-i", own, "-c", "true")).stderr).toContain("is 'web/7'");
    expect((await slipway("ssh", "web/0", "-l", "bosh_kept", "-c", "true")).stderr).toContain(
      "--private-key",
    );
    expect((await slipway("ssh", "web/0", "-i", own, "-l", "-oX=y", "-c", "true")).stderr).toContain(
      "a user",
    );
    const to = join(world().dir, "slipway.txt");
    const gate = [`--gw-host=${host}`, `--gw-user=${user}`, `--gw-private-key=${key}`];
    const copied = await slipway(
      "scp",
      "web/0:/var/vcap/data/theirs.txt",
      to,
      "-i",
      own,
      "-l",
      "bosh_kept",
      ...gate,
    );
    expect(copied).toMatchObject({ code: 0 });
    expect(await readFile(to, "utf8")).toBe("from outside");
    expect((await slipway("ssh", "web/0", "-c", "true", ...gate)).code).toBe(0);
    expect((await slipway("logs", "web/0", "--num=1", ...gate)).stdout).toContain("talker");
    expect(await passed()).toBe(before + 3);
    expect((await slipway("ssh", "web/0", "-c", "true", ...gate, "--gw-disable")).code).toBe(0);
    expect(await passed()).toBe(before + 3);
    await order("cleanup", { user_regex: "^bosh_kept$" });
  });

  it("are the same with slipway: a SOCKS5 proxy, or a jumpbox, with a password that nobody sees", async () => {
    const { host, user, key, passed } = await through();
    const jumpbox = `ssh+socks5://${user}@${new URL(host).host}?private-key=${key}`;
    const proxy = await socksServer({ password: "CANARY" });
    const to = join(world().dir, "by-socks.txt");
    const straight = { ...login(), NO_PROXY: "127.0.0.0/8" };
    const run = (env: Record<string, string>, ...command: readonly string[]) =>
      systemExec(process.execPath, [PROGRAMS.slipway, "-d", "shop", ...command], { env });
    for (const url of [jumpbox, `socks5://u:CANARY@127.0.0.1:${proxy.port}`]) {
      const before = await passed();
      const copy = ["scp", "web/0:/var/vcap/data/theirs.txt", to];
      expect(await run({ ...straight, BOSH_ALL_PROXY: url }, ...copy)).toMatchObject({ code: 0 });
      expect(await readFile(to, "utf8")).toBe("from outside");
      const nowhere = ["--gw-host=192.0.2.1", "--gw-user=nobody", `--gw-socks5=${url}`];
      const shown = await run(login(), "ssh", "web/0", "-c", "echo ahoy", ...nowhere);
      expect(shown.stdout).toContain("stdout | ahoy");
      expect(
        (await run(login(), "logs", "web/0", "--num=1", "--gw-disable", `--gw-socks5=${url}`)).code,
      ).toBe(0);
      if (url === jumpbox) expect(await passed()).toBe(before + 3);
      else expect(proxy.seen.filter((one) => one.endsWith(":22"))).toHaveLength(3);
    }
    const none = { ...straight, BOSH_ALL_PROXY: `socks5://u:CANARY@127.0.0.1:${proxy.port}` };
    expect((await run(none, "ssh", "web/0", "-c", "true", "--gw-socks5=")).code).toBe(0);
    expect(proxy.seen.filter((one) => one.endsWith(":22"))).toHaveLength(3);
    const wrong = `--gw-socks5=socks5://u:CANARY-wrong@127.0.0.1:${proxy.port}`;
    const refused = await run(login(), "ssh", "web/0", "-c", "true", wrong);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain(`127.0.0.1:${proxy.port} does not accept the name and the password`);
    expect(`${refused.stdout}${refused.stderr}`).not.toContain("CANARY");
    await proxy.close();
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
    // The command does not wait for the end of that task.
    await expect.poll(() => readdir(homes)).toEqual([]);
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
