import { DockerCloud, type DockerVm, engineTrouble } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "./address.ts";
import { Engine } from "./engine.ts";
import { endShells, runIn } from "./session.ts";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("programs in a container", () => {
  let cloud: DockerCloud;
  let vm: DockerVm;
  let engine: Engine;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    vm = await (await cloud.newVm(await cloud.newStemcell())).pong();
    engine = (await cloud.cloud()).engine;
  });
  afterAll(() => cloud?.close());

  const run = (script: string, ...args: string[]) => runIn(engine, vm.cid, { script, args }, "a test");
  /** The shell that runs them. */
  const shell = async () => (await run("echo $$")).stdout;

  it("say what they say, and end as they end", async () => {
    const words = ["it's", "a b", '$HOME "`', "two\nlines\n", "", "\\n\\"];
    const all = await run('printf "<%s>" "$@"; printf "no end" >&2; exit 65', ...words);
    expect(all).toEqual({ code: 65, stdout: words.map((word) => `<${word}>`).join(""), stderr: "no end" });
    expect(await run("cat; echo done")).toEqual({ code: 0, stdout: "done\n", stderr: "" });
    expect((await runIn(engine, vm.cid, ["no-such-program"], "a test")).code).toBe(127);
    const many = (count: number) => run(`head -c ${count} /dev/zero | tr '\\0' x; exit 3`);
    expect((await many(200_000)).stdout).toHaveLength(200_000);
    expect((await many(2_000_000)).code).toBe(3);
  });

  it("are run by one shell after the other, and by several at the same time", async () => {
    const one = await shell();
    expect(await shell()).toBe(one);
    const four = await Promise.all([1, 2, 3, 4].map((n) => run('echo "$1" $$', String(n))));
    expect(four.map(({ stdout }) => stdout.split(" ")[0])).toEqual(["1", "2", "3", "4"]);
    expect(new Set(four.map(({ stdout }) => stdout.split(" ")[1])).size).toBe(4);
  });

  it("go on when their caller stops waiting, and their shell ends", async () => {
    const before = await shell();
    const stop = new AbortController();
    const told = await Engine.open(addressOf({ host: cloud.config.host }), stop.signal);
    const script = "echo $$ >/tmp/begun; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo yes >/tmp/ended";
    const running = runIn(told, vm.cid, { script, args: [] }, "a test").catch((error: unknown) => error);
    await expect.poll(async () => (await vm.run("cat /tmp/begun")).stdout).toBe(before);
    stop.abort(new Error("stopped"));
    expect(await running).toEqual(new Error("stopped"));
    await vm.must("touch /tmp/go");
    await expect.poll(async () => (await vm.run("cat /tmp/ended")).stdout).toBe("yes\n");
    await expect.poll(async () => (await vm.run(`ls -d /proc/${before}`)).code).not.toBe(0);
  });

  it("are lost with their container, and run again when it does", async () => {
    const running = run("echo $$ >/tmp/lost; sleep 600").catch((error: unknown) => error);
    await expect.poll(async () => (await vm.run("cat /tmp/lost")).stdout).not.toBe("");
    await cloud.result("reboot_vm", [vm.cid]);
    expect(String(await running)).toContain("hung up");
    await vm.pong();
    expect((await run("echo again")).stdout).toBe("again\n");
  });

  it("leave no shell behind after endShells", async () => {
    const one = (await shell()).trim();
    endShells(engine, vm.cid);
    await expect.poll(async () => (await vm.run(`ls -d /proc/${one}`)).code).not.toBe(0);
  });
});
