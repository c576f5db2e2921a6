import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { access, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { localBlobs } from "../blobs/local-blobs.ts";
import { blobServer } from "../blobs/testing/blob-server.ts";
import { tools } from "../settings/testing/settings-lab.ts";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import type { ActionCall } from "./action.ts";
import { bundleLogs } from "./bundle_logs.ts";
import { fetchLogs } from "./fetch_logs.ts";
import { fetchLogsWithSignedUrl } from "./fetch_logs_with_signed_url.ts";
import { removeFile } from "./remove_file.ts";
import { isCurrent, takeOver } from "./sync_dns.ts";
import { syncDnsWithSignedUrl } from "./sync_dns_with_signed_url.ts";

let world: FakeWorld;
let call: ActionCall;

beforeEach(async () => {
  world = await fakeWorld();
  call = { services: world.services, protocol: 3, signal: new AbortController().signal };
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

async function log(path: string, text = "line\n"): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const entries = (archive: string) =>
  execFileSync("tar", ["-tzf", archive], { encoding: "utf8", maxBuffer: 64 << 20 })
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

  test("makes an empty archive without any log, not an error", async () => {
    const { logs_tar_path: archive } = await bundleLogs(
      { request: { log_type: "agent", filters: null } },
      call,
    );
    expect(entries(archive)).toEqual([]);
  });

  test("packs more files than a command line has room for, follows links, and makes a private archive", async () => {
    const { sysLog, base } = world.services.paths;
    // 1200 names of 2000 characters; Linux has room for 2 MiB.
    const deep = join("many", ...Array.from({ length: 9 }, () => "d".repeat(200)));
    await mkdir(join(sysLog, deep), { recursive: true });
    for (let at = 0; at < 1200; at++) writeFileSync(join(sysLog, deep, `${"x".repeat(200)}-${at}.log`), "");
    await log(join(sysLog, "web", "2026-11.log"));
    await symlink("2026-11.log", join(sysLog, "web", "current.log"));
    await log(join(base, "secret"));
    await symlink(join(base, "secret"), join(sysLog, "web", "outside.log"));
    const request = { log_type: "job", filters: ["many/**/x*.log", "web/current.log", "web/outside.log"] };
    const { logs_tar_path: archive } = await bundleLogs({ request }, call);
    const packed = entries(archive);
    expect(packed.slice(1200)).toEqual(["./web/2026-11.log", "./web/current.log", "./web/outside.log"]);
    const listed = execFileSync("tar", ["-tvzf", archive], {
      encoding: "utf8",
      maxBuffer: 64 << 20,
    }).split("\n");
    expect(listed.find((line) => line.includes("outside.log"))).toMatch(/^l/);
    expect((await stat(archive)).mode & 0o777).toBe(0o600);
  });

  test("leaves nothing behind if it fails", async () => {
    const chown = () => Promise.reject(new Error("no such user"));
    const platform = {
      ...world.services.platform,
      system: { ...world.services.platform.system, chown },
    };
    const request = { log_type: "job", owning_user: "bosh_nobody" };
    const own = { ...call, services: { ...world.services, platform } };
    await expect(bundleLogs({ request }, own)).rejects.toThrow("no such user");
    expect(await readdir(world.services.paths.dataTmp)).toEqual([]);
  });

  test("refuses an unknown kind of logs", async () => {
    await expect(bundleLogs({ request: { log_type: "bad" } }, call)).rejects.toThrow("Invalid log type");
  });
});

/** A place that takes uploads and gives what it has, on the loopback. */
async function signedUrls(contents: Readonly<Record<string, string>> = {}) {
  const taken: { method: string; path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url: path = "", headers } = request;
    taken.push({ method, path, headers, body: Buffer.concat(chunks) });
    response.writeHead(status).end(contents[path.slice(1).split("?")[0] ?? ""]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    taken,
    answer: (code: number) => {
      status = code;
    },
  };
}

const hex = (algorithm: string, body: Buffer) => createHash(algorithm).update(body).digest("hex");

describe("fetch_logs", () => {
  test("stores the archive in the blobstore and keeps no copy", async () => {
    await log(join(world.services.paths.sysLog, "web", "web.log"));
    let packed: string[] = [];
    let path = "";
    const blobs = {
      ...world.services.blobs,
      store: async (archive: string) => {
        [packed, path] = [entries(archive), archive];
        return { blobId: "blob-1", digest: "d1" };
      },
    };
    const own = { ...call, services: { ...world.services, blobs } };
    expect(await fetchLogs({ types: "job", filters: [] }, own)).toEqual({
      blobstore_id: "blob-1",
      sha1: "d1",
    });
    expect(packed).toEqual(["./web/web.log"]);
    await expect(access(path)).rejects.toThrow("ENOENT");
  });

  test.each(["local", "dav"])(
    "puts the archive where a Director with a blobstore of kind %s looks",
    async (provider) => {
      await log(join(world.services.paths.sysLog, "web", "web.log"));
      const shared = await tools();
      const path = join(shared.dir, "store");
      await mkdir(path);
      const server = await blobServer();
      const options = provider === "local" ? { blobstore_path: path } : { endpoint: server.url };
      const t = { ...shared, clock: systemClock, exec: systemExec, settings: () => ({ provider, options }) };
      const own = { ...call, services: { ...world.services, blobs: localBlobs(t) } };
      const { blobstore_id: id, sha1 } = await fetchLogs({ types: "job", filters: [] }, own);
      const found =
        provider === "local"
          ? await readFile(join(path, id))
          : server.blobs.get(`/${hex("sha1", Buffer.from(id)).slice(0, 2)}/${id}`);
      expect(hex("sha1", found ?? Buffer.of())).toBe(sha1);
      await writeFile(join(shared.dir, "logs.tgz"), found ?? "");
      expect(entries(join(shared.dir, "logs.tgz"))).toEqual(["./web/web.log"]);
    },
  );

  test("puts the archive to a signed URL with the given headers, and returns both digests", async () => {
    const { url, taken } = await signedUrls();
    await log(join(world.services.paths.sysLog, "web", "web.log"));
    const blobstore_headers = { "x-ms-blob-type": "BlockBlob" };
    const request = { signed_url: `${url}/logs?sig=canary`, log_type: "job", blobstore_headers };
    const { sha1 } = (await fetchLogsWithSignedUrl({ request }, call)) as { sha1: string };
    const [got] = taken;
    const body = got?.body ?? Buffer.alloc(0);
    expect(got).toMatchObject({ method: "PUT", headers: { "x-ms-blob-type": "BlockBlob" } });
    expect(got?.headers["content-length"]).toBe(`${body.length}`);
    expect(sha1).toBe(`${hex("sha1", body)};sha512:${hex("sha512", body)}`);
  });

  test("fails without repeating the URL if the signed URL is refused", async () => {
    const { url, answer } = await signedUrls();
    answer(403);
    const request = { signed_url: `${url}/logs?sig=canary`, log_type: "job" };
    const failed = fetchLogsWithSignedUrl({ request }, call);
    await expect(failed).rejects.toThrow("response was 403");
    await expect(failed).rejects.toThrow(/^(?!.*canary)/);
  });
});

describe("remove_file", () => {
  test("removes a blob that was fetched, and once", async () => {
    const path = join(world.services.paths.blobs, "b-1");
    await log(path);
    expect(await removeFile({ path }, call)).toBe(path);
    await expect(access(path)).rejects.toThrow("ENOENT");
    expect(await removeFile({ path }, call)).toBe(path);
  });

  test("removes what bundle_logs left, and missing is fine", async () => {
    const { logs_tar_path: archive } = await bundleLogs({ request: { log_type: "job" } }, call);
    expect(await removeFile({ path: archive }, call)).toBe(archive);
    await expect(readFile(archive)).rejects.toThrow();
    expect(await removeFile({ path: archive }, call)).toBe(archive);
  });

  test("removes nothing else, whatever the argument", async () => {
    const { dataTmp, data, base, store } = world.services.paths;
    const precious = join(store, "logs-0a.tgz");
    await log(precious, "precious");
    await log(join(dataTmp, "other"), "other");
    await mkdir(join(dataTmp, "logs-0b.tgz"));
    await symlink(store, join(dataTmp, "link"));
    for (const path of [
      precious,
      base,
      dataTmp,
      `${dataTmp}/`,
      `${dataTmp}/.`,
      `${dataTmp}/..`,
      `${dataTmp}/../`,
      `${dataTmp}//logs-0a.tgz`,
      `${dataTmp}/../../store/logs-0a.tgz`,
      `${dataTmp}/link/logs-0a.tgz`,
      `${dataTmp}/link/../logs-0a.tgz`,
      `${dataTmp}/logs-0b.tgz`,
      `${dataTmp}/other`,
      `${dataTmp}/logs-0a.tgz\0`,
      "logs-0a.tgz",
      "..",
    ]) {
      await expect(removeFile({ path }, call), path).rejects.toThrow("is not removed");
    }
    expect(await readFile(precious, "utf8")).toBe("precious");
    expect((await readdir(data)).sort()).toEqual(["tmp"]);
    expect((await readdir(dataTmp)).sort()).toEqual(["link", "logs-0b.tgz", "other"]);
  });

  test("removes a link, not what it leads to", async () => {
    const { dataTmp, store } = world.services.paths;
    await log(join(store, "data"), "precious");
    await mkdir(dataTmp, { recursive: true });
    await symlink(join(store, "data"), join(dataTmp, "logs-0c.tgz"));
    await removeFile({ path: join(dataTmp, "logs-0c.tgz") }, call);
    expect(await readFile(join(store, "data"), "utf8")).toBe("precious");
    expect(await readdir(dataTmp)).toEqual([]);
  });
});

describe("sync_dns", () => {
  const blob = (version: number) =>
    JSON.stringify({ version, records: [["10.0.0.5", "host.name"]], extra: { kept: 1 } });

  test("stores the records as they came and tells the hosts file", async () => {
    await takeOver(blob(5), 5, world.services);
    expect(await readFile(world.services.paths.dnsRecords, "utf8")).toBe(blob(5));
    expect(world.told).toContainEqual({ what: "writeHosts", args: [[["10.0.0.5", "host.name"]], "agent-1"] });
  });

  test("counts older records as synced, and newer ones not", async () => {
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

  test("takes content with the right digest from a signed URL, with retries, and nothing else", async () => {
    const text = JSON.stringify({ version: 3, records: [["10.0.0.5", "api"]] });
    const { url, taken } = await signedUrls({ dns: text });
    const clock = fakeClock({ hurry: true });
    const own = { ...call, services: { ...world.services, clock } };
    const multi_digest = hex("sha1", Buffer.from(text));
    const request = {
      signed_url: `${url}/dns?sig=canary`,
      multi_digest,
      version: 3,
      blobstore_headers: null,
    };
    expect(await syncDnsWithSignedUrl({ request }, own)).toBe("synced");
    expect(await readFile(world.services.paths.dnsRecords, "utf8")).toBe(text);
    const newer = { ...request, version: 4, multi_digest: hex("sha1", Buffer.from("other")) };
    const failed = syncDnsWithSignedUrl({ request: newer }, own);
    await expect(failed).rejects.toThrow("its digest is another");
    await expect(failed).rejects.toThrow(/^(?!.*canary)/);
    expect(taken).toHaveLength(1 + 3);
  });

  test("ignores a torn records file", async () => {
    await log(world.services.paths.dnsRecords, '{"version": 9');
    expect(await isCurrent(world.services, 1)).toBe(false);
  });
});
