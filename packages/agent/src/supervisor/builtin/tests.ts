import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat, statfs } from "node:fs/promises";
import { loadavg } from "node:os";
import type { Clock } from "@slipway/kernel/clock";
import { ifThere } from "@slipway/kernel/files";
import type { MonitAmount, MonitResource, ResourceLimit, Test } from "../monit-file/model.ts";
import { compare, testConnection } from "./connect.ts";
import { idOf } from "./launch.ts";
import { ageSeconds, readStat } from "./procfs.ts";
import { memory, type ProcessUsage } from "./usage.ts";
import type { WatchedService } from "./watched.ts";

export interface TestTools {
  readonly clock: Clock;
  readonly etc: (file: string) => string;
  readonly usage: ProcessUsage | undefined;
  readonly cpu: Readonly<Record<"cpuuser" | "cpusystem" | "cpuwait", number>> | undefined;
  readonly cycle: number;
  /** The exit code of the service's program, if it is a check of a program that has run. */
  readonly status: number | undefined;
  /** Values of the previous cycle. `changed` compares with them. */
  readonly before: Map<string, string>;
}

/**
 * Outcome of a test. `holds` is undefined if the test was impossible, such as memory of a process that does not run.
 */
export interface TestOutcome {
  readonly holds: boolean | undefined;
  readonly text: string;
}

/** Makes one test of a rule. */
export async function evaluate(test: Test, one: WatchedService, tools: TestTools): Promise<TestOutcome> {
  const path = one.service.target.by === "path" ? one.service.target.path : "";
  switch (test.on) {
    case "resource":
      return resources(test.limits, one, tools);
    case "connection":
      return connection(test, one, tools);
    case "restarts": {
      const count = one.restarts.filter((cycle) => cycle > tools.cycle - test.cycles).length;
      return { holds: count >= test.count, text: `restarted ${count} times within ${test.cycles} cycles` };
    }
    case "changed":
      return await changed(test.what, one, path, tools);
    case "status":
      return {
        holds: tools.status === undefined ? undefined : compare(tools.status, test.operator, test.code),
        text: `status is ${tools.status}`,
      };
    case "existence":
      if (one.service.kind === "process") return { holds: undefined, text: "" };
      return {
        holds: ((await ifThere(stat(path))) !== undefined) === test.exists,
        text: `${path} ${test.exists ? "exists" : "does not exist"}`,
      };
    case "nothing":
      return { holds: undefined, text: "" };
    default:
      return await file(test, path, tools);
  }
}

function resources(limits: readonly ResourceLimit[], one: WatchedService, tools: TestTools): TestOutcome {
  for (const { resource, operator, limit } of limits) {
    const value = measured(resource, limit, one, tools);
    if (value === undefined) return { holds: undefined, text: "" };
    const unit = limit.unit === "percent" ? "%" : limit.unit === "kb" ? " kB" : "";
    if (compare(value, operator, limit.value))
      return {
        holds: true,
        text: `${resource} of ${round(value)}${unit} matches limit [${resource}${operator}${round(limit.value)}${unit}]`,
      };
  }
  return { holds: false, text: "" };
}

const round = (value: number) => Math.round(value * 10) / 10;

function measured(
  resource: MonitResource,
  limit: MonitAmount,
  one: WatchedService,
  tools: TestTools,
): number | undefined {
  const { usage } = tools;
  const whole = memory();
  const system = one.service.kind === "system";
  const byUnit = (kb: number, total: number) =>
    limit.unit === "percent" ? (kb / Math.max(1, total)) * 100 : kb;
  switch (resource) {
    case "loadavg1":
      return loadavg()[0];
    case "loadavg5":
      return loadavg()[1];
    case "loadavg15":
      return loadavg()[2];
    case "swap":
      return byUnit(whole.swapKb, whole.swapTotalKb);
    case "cpuuser":
    case "cpusystem":
    case "cpuwait":
      return tools.cpu?.[resource];
    case "mem":
      if (system) return byUnit(whole.usedKb, whole.totalKb);
      return usage === undefined ? undefined : byUnit(usage.kb, whole.totalKb);
    case "totalmem":
      return usage === undefined ? undefined : byUnit(usage.totalKb, whole.totalKb);
    case "cpu":
      return usage?.cpu;
    case "totalcpu":
      return usage?.totalCpu;
    case "children":
      return usage?.children;
    case "threads":
      return usage?.threads;
    default:
      return one.process === undefined ? undefined : ageSeconds(one.process);
  }
}

async function connection(
  test: Test & { on: "connection" },
  one: WatchedService,
  tools: TestTools,
): Promise<TestOutcome> {
  if (one.service.kind === "process" && one.process === undefined) return { holds: undefined, text: "" };
  const { target } = one.service;
  const host = test.connection.host || (target.by === "address" ? target.address : "localhost");
  const error = await testConnection({ ...test.connection, host }, tools.clock);
  return { holds: (error !== undefined) === test.fails, text: error ?? "connection succeeded" };
}

async function changed(
  what: string,
  one: WatchedService,
  path: string,
  tools: TestTools,
): Promise<TestOutcome> {
  const now = await changing(what, one, path, tools);
  const before = tools.before.get(what);
  if (now === undefined) return { holds: undefined, text: "" };
  tools.before.set(what, now);
  return { holds: before !== undefined && before !== now, text: `${what} changed from ${before} to ${now}` };
}

async function changing(
  what: string,
  one: WatchedService,
  path: string,
  tools: TestTools,
): Promise<string | undefined> {
  if (what === "pid") return one.process === undefined ? undefined : String(one.process.pid);
  if (what === "ppid") {
    const parent = one.process === undefined ? undefined : readStat(one.process.pid)?.ppid;
    return parent === undefined ? undefined : String(parent);
  }
  if (what === "status") return tools.status === undefined ? undefined : String(tools.status);
  const found = await ifThere(stat(path));
  if (found === undefined) return undefined;
  if (what === "timestamp") return String(Math.max(found.mtimeMs, found.ctimeMs));
  if (what === "size") return String(found.size);
  if (what === "permission") return (found.mode & 0o7777).toString(8);
  return await checksum(path, "sha1");
}

async function file(test: Test, path: string, tools: TestTools): Promise<TestOutcome> {
  const found = await ifThere(stat(path));
  if (found === undefined) return { holds: undefined, text: "" };
  switch (test.on) {
    case "timestamp": {
      const age = (tools.clock.now() - Math.max(found.mtimeMs, found.ctimeMs)) / 1000;
      return {
        holds: compare(age, test.operator, test.seconds),
        text: `${path} changed ${Math.round(age)} s ago`,
      };
    }
    case "size":
      return {
        holds: compare(found.size, test.operator, test.bytes),
        text: `${path} has ${found.size} bytes`,
      };
    case "permission":
      return {
        holds: (found.mode & 0o7777) !== test.mode,
        text: `permission is ${(found.mode & 0o7777).toString(8)}`,
      };
    case "uid":
    case "gid": {
      const wanted = await idOf(test.id, tools.etc(test.on === "uid" ? "passwd" : "group"), test.on).catch(
        () => undefined,
      );
      return { holds: found[test.on] !== wanted, text: `${test.on} is ${found[test.on]}` };
    }
    case "checksum": {
      const expected = test.expected.toLowerCase().replace(/^(md5|sha1)=?/, "");
      const now = await checksum(path, expected.length === 32 ? "md5" : "sha1");
      const first = tools.before.get("checksum") ?? now;
      tools.before.set("checksum", first);
      return { holds: now !== (expected === "" ? first : expected), text: `checksum is ${now}` };
    }
    case "space":
    case "inode": {
      const use = await statfs(path);
      const [all, left] = test.on === "space" ? [use.blocks, use.bfree] : [use.files, use.ffree];
      const count = test.free ? left : all - left;
      const kb = test.on === "space" ? (count * use.bsize) / 1024 : count;
      const value = test.limit.unit === "percent" ? (count / Math.max(1, all)) * 100 : kb;
      const limit =
        test.on === "space" && test.limit.unit === "number" ? test.limit.value / 1024 : test.limit.value;
      return {
        holds: compare(value, test.operator, limit),
        text: `${test.on} of ${path} is ${round(value)}`,
      };
    }
    case "match": {
      const lines = (await readFile(path, "utf8")).slice(-LAST_CHARACTERS).split("\n");
      const pattern = new RegExp(test.pattern);
      return {
        holds: lines.some((line) => pattern.test(line)) !== test.not,
        text: `content of ${path} matches ${test.pattern}`,
      };
    }
    default:
      return { holds: undefined, text: "" };
  }
}

/** Characters at the end of a file that are searched for a pattern. */
const LAST_CHARACTERS = 512 * 1024;

async function checksum(path: string, algorithm: "md5" | "sha1"): Promise<string> {
  const hash = createHash(algorithm);
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest("hex");
}
