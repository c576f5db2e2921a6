import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, openSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { needs } from "@slipway/testkit/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeLogrotate } from "../platform/linux/system/logrotate.ts";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import { maxLogSize, rotateAbove, rotateLogs } from "./rotate.ts";

const logrotate = needs(
  "logrotate",
  process.getuid?.() === 0 && spawnSync("logrotate", ["--version"]).status === 0,
  "it takes root and logrotate",
);

let world: FakeWorld;
let web: string;
beforeEach(async () => {
  world = await fakeWorld();
  web = join(world.services.paths.sysLog, "web");
  await mkdir(web, { recursive: true });
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

const rotate = (bytes: number) => rotateAbove(world.services.paths.sysLog, bytes);
const unzipped = async (name: string) => gunzipSync(await readFile(join(web, name))).toString();

describe("rotating logs by size", () => {
  it("leaves what is small, and cuts off what is not while its writer goes on", async () => {
    await writeFile(join(web, "small.log"), "few");
    await writeFile(join(web, "notes.txt"), "much ".repeat(20));
    const open = openSync(join(web, "large.log"), "a");
    appendFileSync(open, "a".repeat(100));
    await rotate(50);
    appendFileSync(open, "after");
    expect((await readdir(web)).sort()).toEqual(["large.log", "large.log.1", "notes.txt", "small.log"]);
    expect(await readFile(join(web, "large.log"), "utf8")).toBe("after");
    expect(await readFile(join(web, "large.log.1"), "utf8")).toBe("a".repeat(100));
  });

  it("keeps seven, the older ones compressed", async () => {
    for (let time = 1; time <= 9; time++) {
      await writeFile(join(web, "web.log"), `${time}${"x".repeat(99)}`);
      await rotate(50);
    }
    const kept = ["web.log", "web.log.1", ...[2, 3, 4, 5, 6, 7].map((at) => `web.log.${at}.gz`)];
    expect((await readdir(web)).sort()).toEqual(kept);
    expect((await readFile(join(web, "web.log.1"), "utf8"))[0]).toBe("9");
    expect((await unzipped("web.log.2.gz"))[0]).toBe("8");
    expect((await unzipped("web.log.7.gz"))[0]).toBe("3");
  });

  it("goes on after it was killed half-way", async () => {
    await writeFile(join(web, "web.log"), "x".repeat(100));
    await writeFile(join(web, "web.log.1"), "before");
    await writeFile(join(web, "web.log.2.gz.tmp"), "torn");
    await rotate(50);
    expect(await unzipped("web.log.2.gz")).toBe("before");
    expect((await readdir(web)).sort()).toEqual(["web.log", "web.log.1", "web.log.2.gz"]);
  });

  it("follows no links, and one log that cannot be rotated does not keep the others from it", async () => {
    const victim = join(world.services.paths.base, "victim.log");
    await writeFile(victim, "v".repeat(100));
    await symlink(victim, join(web, "link.log"));
    await symlink(dirname(victim), join(world.services.paths.sysLog, "elsewhere"));
    await writeFile(join(web, "a.log"), "x".repeat(100));
    await mkdir(join(web, "a.log.1"));
    await writeFile(join(web, "b.log"), "x".repeat(100));
    await expect(rotate(50)).rejects.toThrow();
    expect((await readFile(victim, "utf8")).length).toBe(100);
    expect(await readFile(join(web, "b.log"), "utf8")).toBe("");
    expect((await readFile(join(web, "a.log"), "utf8")).length).toBe(100);
  });

  it("happens every minute, by the size that the specification has", async () => {
    world.spec = { properties: { logging: { max_log_file_size: "1k" } } } as unknown as ApplySpec;
    const clock = fakeClock();
    const end = new AbortController();
    const rotating = rotateLogs({ ...world.services, clock }, end.signal);
    await expect.poll(() => clock.waiting).toBe(1);
    await writeFile(join(web, "web.log"), "x".repeat(1025));
    await clock.advance(60_000);
    await expect.poll(() => readFile(join(web, "web.log"), "utf8")).toBe("");
    end.abort();
    await rotating;
  });

  it("has upstream's size when none is given, or one that is none", () => {
    const size = (text: unknown) =>
      maxLogSize({ properties: { logging: { max_log_file_size: text } } } as unknown as ApplySpec);
    expect([maxLogSize(undefined), size(""), size("0"), size("1; x"), size("-1"), size("1\n}")]).toEqual(
      Array(6).fill("50M"),
    );
    expect([size("10k"), size("200M"), size(4096)]).toEqual(["10k", "200M", "4096"]);
  });
});

describe("the machine's logrotate", () => {
  it("gets its rule where there is one, and is missed where there is none", async () => {
    const { paths } = world.services;
    expect(await writeLogrotate(paths, "10M")).toBe(false);
    await mkdir(paths.system("usr", "sbin"), { recursive: true });
    await writeFile(paths.system("usr", "sbin", "logrotate"), "");
    expect(await writeLogrotate(paths, "10M")).toBe(true);
    const rule = await readFile(paths.system("etc", "logrotate.d", "vcap"), "utf8");
    expect(rule).toContain(`${paths.data}/sys/log/*/*.log ${paths.data}/sys/log/*/.*.log`);
    expect(rule).toContain("  size 10M\n");
  });

  it.runIf(logrotate)("rotates by that rule, in directories that jobs may write to", async () => {
    const { paths } = world.services;
    const logs = join(paths.data, "sys", "log", "web");
    await mkdir(logs, { recursive: true, mode: 0o770 });
    await chmod(logs, 0o770);
    await mkdir(paths.system("usr", "sbin"), { recursive: true });
    await writeFile(paths.system("usr", "sbin", "logrotate"), "");
    for (const name of ["web.log", ".hidden.log", "web.txt"])
      await writeFile(join(logs, name), "x".repeat(2000));
    await writeLogrotate(paths, "1k");
    execFileSync("logrotate", ["-s", join(paths.base, "state"), paths.system("etc", "logrotate.d", "vcap")]);
    expect((await readdir(logs)).sort()).toEqual([
      ".hidden.log",
      ".hidden.log.1",
      "web.log",
      "web.log.1",
      "web.txt",
    ]);
    expect(await readFile(join(logs, "web.log"), "utf8")).toBe("");
  });
});
