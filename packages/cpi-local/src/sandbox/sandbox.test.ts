import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { isAlive, isRoot, LocalCloud, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keeperOf } from "../namespaces.ts";
import { startAll, stopAll } from "../power.ts";
import { runningIn } from "./identity.ts";

sampleTests(1 / 3);

const trouble = await sandboxTrouble();
/** Directories of the host with something in them. */
const HIDDEN = ["/usr/share/doc", "/var/log"].filter((dir) => readdirSync(dir).length > 0);
/** Directories of which every sandbox has a copy to write to. */
const COPIED = ["/etc", "/usr/local/share/ca-certificates"];
let cloud: LocalCloud;
let vm: string;

describe.runIf(needs("userns", trouble === undefined, trouble))("a sandbox with the host's root", () => {
  beforeAll(async () => {
    cloud = await LocalCloud.open({ hide: HIDDEN });
    vm = await cloud.newVm();
  });
  afterAll(() => cloud.close());

  it("cannot write to any of the host's file systems", async () => {
    const mine = ["/var", "/run", "/tmp", "/dev/shm", "/proc", "/dev/pts", ...COPIED];
    const places = await cloud.insideMust(
      vm,
      "cut -d' ' -f5 /proc/self/mountinfo | sort -u | while read -r at; do [ ! -w $at ] || echo $at; done",
    );
    const foreign = places
      .split("\n")
      .filter((at) => at !== "" && !mine.some((one) => at === one || at.startsWith(`${one}/`)));
    expect(foreign).toEqual([]);
    expect(
      await cloud.insideMust(vm, "[ -w /run/slipway/var ] || [ -w /run/slipway/node ] || echo fine"),
    ).toBe("fine\n");
    for (const place of ["/usr", "/var/lib", "/var/log", "/", "/home", "/root", "/opt"])
      expect((await cloud.inside(vm, `touch ${place}/slipway-was-here`)).code, place).not.toBe(0);
  });

  it("writes to places of its own only, which the host and other sandboxes do not see", async () => {
    await cloud.insideMust(
      vm,
      "for d in /tmp /var/tmp /run /dev/shm /var/vcap; do echo mine > $d/slipway-own; done",
    );
    expect(readFileSync(cloud.vm(vm, "vcap", "slipway-own"), "utf8")).toBe("mine\n");
    for (const place of ["/tmp", "/run", "/dev/shm", "/var/tmp"])
      expect(existsSync(`${place}/slipway-own`), place).toBe(false);
    const other = await cloud.newVm();
    expect(await cloud.insideMust(other, "ls /tmp /run /var/vcap /dev/shm")).not.toContain("slipway-own");
    await cloud.result("delete_vm", [other]);
  });

  it("writes to copies of its own of what releases change, which a reboot keeps and delete_vm removes", async () => {
    const own = await cloud.newVm();
    const places = COPIED.filter((place) => existsSync(place));
    const write = places.map((place) => `echo mine > ${place}/slipway-own`).join(" && ");
    await cloud.insideMust(
      own,
      `${write} && echo "no entry" > /etc/issue && mkdir -p /etc/ssl/certs/slipway`,
    );
    for (const place of places) expect(existsSync(`${place}/slipway-own`), place).toBe(false);
    expect(await cloud.insideMust(vm, "ls /etc; cat /etc/issue")).not.toMatch(/slipway-own|no entry/);
    await cloud.result("reboot_vm", [own]);
    await cloud.agentStarts(own, 2);
    const kept = places.map((place) => `cat ${place}/slipway-own`).join(" && ");
    expect(await cloud.insideMust(own, `${kept} && cat /etc/issue`)).toBe(
      `${"mine\n".repeat(places.length)}no entry\n`,
    );
    await cloud.result("delete_vm", [own]);
    expect(existsSync(cloud.vm(own))).toBe(false);
  });

  it.runIf(isRoot)("has nothing in its /etc that only root of the host may read", async () => {
    const find = "find /etc -type f ! -perm -o=r ! -name shadow";
    const secret = execFileSync("sh", ["-c", find], { encoding: "utf8" }).split("\n").filter(Boolean);
    const seen = await cloud.insideMust(vm, "find /etc -type f");
    for (const file of secret) expect(seen.split("\n"), file).not.toContain(file);
    expect(await cloud.insideMust(vm, "cut -d: -f2 /etc/shadow | sort -u")).toBe("*\n");
  });

  it("sees its own processes only, the first of which is its init", async () => {
    const listed = await cloud.insideMust(
      vm,
      "cat /proc/[0-9]*/comm | sort -u; cat /proc/1/cmdline | tr '\\0' ' '",
    );
    expect(listed).not.toContain("vitest");
    expect(listed).toContain("/run/slipway/agent.cjs -C /run/slipway/agent.json -b /var/vcap -P namespace");
  });

  it("is one short line in a list of the host's processes, which names the VM", async () => {
    const keeper = keeperOf(cloud.pid(vm));
    const line = readFileSync(`/proc/${keeper?.pid}/cmdline`, "utf8").split("\0").join(" ").trim();
    expect(line).toBe(`sh -s sandbox ${cloud.vm(vm)}`);
  });

  it("has no descriptor of the host's in any of its processes, but its own log", async () => {
    const listed = await cloud.insideMust(
      vm,
      'for fd in /proc/[0-9]*/fd/*; do readlink "$fd"; done | sort -u',
    );
    const own = /^(?:\/dev\/null|\/dev\/u?random|pipe:|socket:|anon_inode:|\/var\/vcap\/|\/run\/|\/tmp\/)/;
    const foreign = listed.split("\n").filter((to) => to !== "" && !own.test(to) && !to.startsWith("/proc/"));
    expect(foreign.filter((to) => !to.endsWith(`/vms/${vm}/agent.log`))).toEqual([]);
    expect(listed).not.toMatch(/^(?:mnt|net|user|pid):/m);
    // Nor a way by one: neither into other mounts, nor up from a directory.
    const ways = await cloud.inside(
      vm,
      'for fd in /proc/1/fd/*; do nsenter --mount="$fd" true 2> /dev/null && echo "$fd"; ls "$fd/.." 2> /dev/null; done; true',
    );
    expect(ways.stdout).toBe("");
  });

  it("does not see the directory of its cloud, nor what is to be hidden", async () => {
    expect((await cloud.inside(vm, `ls '${cloud.dir}/vms'`)).code).not.toBe(0);
    for (const hidden of HIDDEN) expect(await cloud.insideMust(vm, `ls -A ${hidden}`)).toBe("");
    expect(HIDDEN).not.toEqual([]);
    // Nor the root that was there before its own.
    expect(
      await cloud.insideMust(vm, "ls -A /run/slipway/host; grep -c slipway/host /proc/mounts || true"),
    ).toBe("0\n");
  });

  it("starts its agent again when that asks for it, and when something kills it", async () => {
    const init = cloud.pid(vm);
    await cloud.agentEnds(vm, 0);
    await cloud.agentStarts(vm, 2);
    await cloud.insideMust(vm, "kill -9 $(tail -n 1 /var/vcap/starts)");
    await cloud.agentStarts(vm, 3);
    expect(cloud.pid(vm)).toBe(init);
    expect(isAlive(init)).toBe(true);
  });
});

describe.runIf(needs("userns", trouble === undefined, trouble))("the power of sandboxes", () => {
  beforeAll(async () => {
    cloud = await LocalCloud.open();
  });
  afterAll(() => cloud.close());

  it("can be switched off for all and on again, and what was off stays off", async () => {
    const [on, off] = [await cloud.newVm(), await cloud.newVm()];
    await cloud.agentEnds(off, 3);
    await expect.poll(() => runningIn(cloud.vm(off))).toBeUndefined();
    expect(await cloud.result("has_vm", [off])).toBe(true);
    expect(await stopAll(cloud.config)).toEqual([on]);
    expect(await cloud.traces()).toEqual([]);
    expect(await stopAll(cloud.config)).toEqual([]);
    expect(await startAll(cloud.config)).toEqual({ started: [on], failed: [] });
    await cloud.agentStarts(on, 2);
    expect(await startAll(cloud.config)).toEqual({ started: [], failed: [] });
    // A reboot by name switches it on.
    await cloud.result("reboot_vm", [off]);
    await cloud.agentStarts(off, 2);
    for (const vm of [on, off]) await cloud.result("delete_vm", [vm]);
  });

  it("a start that fails for one sandbox does not fail for the others", async () => {
    const [broken, fine] = [await cloud.newVm(), await cloud.newVm()];
    await stopAll(cloud.config);
    await rm(cloud.vm(broken, "user-data.json"));
    const { started, failed } = await startAll(cloud.config);
    expect(started).toEqual([fine]);
    expect(failed).toMatchObject([{ cid: broken, why: expect.stringContaining("user-data.json") }]);
    for (const vm of [broken, fine]) await cloud.result("delete_vm", [vm]);
  });
});

describe.runIf(needs("userns", trouble === undefined, trouble))("the process of a sandbox", () => {
  beforeAll(async () => {
    cloud = await LocalCloud.open();
  });
  afterAll(() => cloud.close());

  it("is not mistaken for another that has its pid by now", async () => {
    const vm = await cloud.newVm();
    await stopAll(cloud.config);
    const bystander = execFileSync("sh", ["-c", "sleep 600 > /dev/null 2>&1 & echo $!"], {
      encoding: "utf8",
    });
    const pid = Number(bystander);
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const namespace = execFileSync("readlink", ["/proc/self/ns/pid"], { encoding: "utf8" }).trim();
    const record = { pid, started: "1", boot, namespace };
    await writeFile(cloud.vm(vm, "process"), JSON.stringify(record));
    await cloud.result("delete_vm", [vm]);
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  it("is another one's matter when it was started in another pid namespace", async () => {
    const vm = await cloud.newVm();
    await stopAll(cloud.config);
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const record = { pid: 4711, started: "1", boot, namespace: "pid:[1]" };
    await writeFile(cloud.vm(vm, "process"), JSON.stringify(record));
    expect(await cloud.refusal("delete_vm", [vm])).toContain("LOC-004");
    await rm(cloud.vm(vm, "process"), { force: true });
    await rm(`${cloud.vm(vm)}.deleted/process`, { force: true });
    expect(await cloud.refusal("delete_vm", [vm])).toContain("VMNotFound");
    expect(existsSync(`${cloud.vm(vm)}.deleted`)).toBe(false);
  });

  it("says why it did not start, and nothing of it is left", async () => {
    const args = cloud.vmArguments(await cloud.newStemcell());
    await rm(cloud.config.agent);
    await mkdir(cloud.config.agent);
    const refusal = await cloud.refusal("create_vm", args);
    expect(refusal).toContain("LOC-002");
    expect(refusal).toContain("agent.cjs");
    expect(await cloud.traces()).toEqual([]);
    expect(await cloud.result("has_vm", [/vm-\w+/.exec(refusal)?.[0] ?? ""])).toBe(false);
  });
});
