import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { globToRegExp } from "../logs/glob.ts";
import { type PaperWorld, paperWorld } from "../testing/paper-services.ts";
import type { ActionCall } from "./action.ts";
import { bundleLogs } from "./bundle_logs.ts";
import { removeFile } from "./remove_file.ts";
import { isCurrent, takeOver } from "./sync_dns.ts";

let world: PaperWorld;
let call: ActionCall;

beforeEach(async () => {
  world = await paperWorld();
  call = { services: world.services, protocol: 3, signal: new AbortController().signal };
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

async function log(path: string, text = "line\n"): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const entries = (archive: string) =>
  execFileSync("tar", ["-tzf", archive], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line !== "")
    .sort();

describe("bundle_logs", () => {
  test("packs the logs of the jobs and names the archive's digest", async () => {
    await log(join(world.services.paths.sysLog, "web", "web.log"));
    await log(join(world.services.paths.sysLog, "web", "sub", "deep.log"));
    const { logs_tar_path: archive, sha512 } = await bundleLogs({ request: { log_type: "job" } }, call);
    expect(entries(archive)).toEqual(["./web/sub/deep.log", "./web/web.log"]);
    expect(sha512).toMatch(/^sha512:[0-9a-f]{128}$/);
  });

  test("takes only what a filter names, and several kinds at once", async () => {
    await log(join(world.services.paths.sysLog, "web", "web.log"));
    await log(join(world.services.paths.sysLog, "web", "other.txt"));
    await log(join(world.services.paths.boshLog, "web", "current.log"));
    await log(world.services.paths.system("var", "log", "web", "sys.log"));
    const request = { log_type: "job,agent,system", filters: ["web/*.log"] };
    const { logs_tar_path: archive } = await bundleLogs({ request }, call);
    expect(entries(archive)).toEqual(["./var/log/web/sys.log", "./web/current.log", "./web/web.log"]);
  });

  test("without any log is an empty archive, not an error", async () => {
    const { logs_tar_path: archive } = await bundleLogs(
      { request: { log_type: "agent", filters: null } },
      call,
    );
    expect(entries(archive)).toEqual([]);
  });

  test("refuses a kind of logs there is not", async () => {
    await expect(bundleLogs({ request: { log_type: "bad" } }, call)).rejects.toThrow("Invalid log type");
  });
});

describe("remove_file", () => {
  test("removes what bundle_logs left, and missing is fine", async () => {
    const { logs_tar_path: archive } = await bundleLogs({ request: { log_type: "job" } }, call);
    expect(await removeFile({ path: archive }, call)).toBe(archive);
    await expect(readFile(archive)).rejects.toThrow();
    expect(await removeFile({ path: archive }, call)).toBe(archive);
  });

  test("removes nothing else, whatever it is told", async () => {
    const precious = join(world.services.paths.store, "data");
    await log(precious, "precious");
    await mkdir(world.services.paths.dataTmp, { recursive: true });
    for (const path of [
      precious,
      world.services.paths.base,
      join(world.services.paths.dataTmp, "..", "..", "store", "data"),
    ]) {
      await expect(removeFile({ path }, call)).rejects.toThrow("only files under");
    }
    expect(await readFile(precious, "utf8")).toBe("precious");
  });
});

test("filters are globs: * stays in its folder, ** does not", () => {
  expect(globToRegExp("**/*").test("a/b/c.log")).toBe(true);
  expect(globToRegExp("*.log").test("a/b.log")).toBe(false);
  expect(globToRegExp("a/**").test("a/b/c.log")).toBe(true);
  expect(globToRegExp("a/?.log").test("a/b.log")).toBe(true);
  expect(globToRegExp("a.log").test("axlog")).toBe(false);
});

describe("sync_dns", () => {
  const blob = (version: number) =>
    JSON.stringify({ version, records: [["10.0.0.5", "host.name"]], extra: { kept: 1 } });

  test("stores the records as they came and tells the hosts file", async () => {
    await takeOver(blob(5), 5, world.services);
    expect(await readFile(world.services.paths.dnsRecords, "utf8")).toBe(blob(5));
    expect(world.told).toContainEqual({ what: "writeHosts", args: [[["10.0.0.5", "host.name"]], "agent-1"] });
  });

  test("older records are as good as synced; newer ones are not", async () => {
    await takeOver(blob(5), 5, world.services);
    expect(await isCurrent(world.services, 4)).toBe(true);
    expect(await isCurrent(world.services, 5)).toBe(true);
    expect(await isCurrent(world.services, 6)).toBe(false);
  });

  test("refuses a blob of another version", async () => {
    await expect(takeOver(blob(6), 5, world.services)).rejects.toThrow(
      "version from unpacked dns blob does not match version supplied by director",
    );
  });

  test("a torn records file is not believed", async () => {
    await log(world.services.paths.dnsRecords, '{"version": 9');
    expect(await isCurrent(world.services, 1)).toBe(false);
  });
});
