import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { systemClock } from "@slipway/kernel/clock";
import { ifThere } from "@slipway/kernel/files";
import { readTar } from "@slipway/kernel/tar/read";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { apply } from "../actions/apply.ts";
import { compilePackage } from "../actions/compile_package.ts";
import { compilePackageWithSignedUrl } from "../actions/compile_package_with_signed_url.ts";
import { blobServer } from "../blobs/testing/blob-server.ts";
import { archiveOf, callOf, labServices, sha1, specOf } from "../jobs/testing/lab.ts";
import { CompileFailed } from "./errors.ts";

sampleTests(1 / 4);

async function lab() {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const services = await labServices(path);
  const source = async (files: Readonly<Record<string, string>>, options = {}) => {
    const content = await archiveOf(files, options);
    await services.blobs.write("blobs", `source-${sha1(content)}`, content);
    return { blobId: `source-${sha1(content)}`, digest: sha1(content) };
  };
  const compiling = async (
    files: Readonly<Record<string, string>>,
    { dependencies = {}, signal = undefined as AbortSignal | undefined, gzip = true } = {},
  ) =>
    await compilePackage(
      { ...(await source(files, { gzip })), name: "app", version: "1.1", dependencies },
      callOf(services, signal),
    );
  /** Nothing of a compilation is left, whatever came of it. */
  const clean = async () => {
    const { paths } = services;
    for (const directory of [paths.packages, paths.dataPackages, paths.compile, paths.dataTmp])
      expect((await ifThere(readdir(directory))) ?? [], directory).toEqual([]);
  };
  return { services, paths: services.paths, source, compiling, clean };
}

async function entriesIn(archive: Buffer): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  const bytes = archive[0] === 0x1f ? gunzipSync(archive) : archive;
  const pieces = (async function* () {
    yield bytes;
  })();
  for await (const { entry, body } of readTar(pieces, { refuse: (why) => new Error(why), end: "needed" }))
    found[entry.name] = `${entry.attributes().mode.toString(8)} ${entry.linkName}${await text(body)}`;
  return found;
}

const messageOf = async (work: Promise<unknown>) => {
  const failure = await work.catch((error: unknown) => error);
  expect(CompileFailed.is(failure), String(failure)).toBe(true);
  return String(failure);
};

describe("compile_package", () => {
  it("runs the script in upstream's environment beside its dependencies and stores what it installed", async () => {
    const { services, paths, compiling, clean } = await lab();
    const ruby = await archiveOf({ "!bin/ruby": "#!/bin/sh\necho from ruby" });
    await services.blobs.write("blobs", "ruby", ruby);
    const dependencies = { ruby: { name: "ruby", version: "3", sha1: sha1(ruby), blobstore_id: "ruby" } };
    const { result } = await compiling(
      {
        packaging: [
          "set -e",
          "env | grep -E '^(BOSH_|PATH=)' | sort > $BOSH_INSTALL_TARGET/env",
          `${paths.packages}/ruby/bin/ruby > $BOSH_INSTALL_TARGET/said`,
          "cp src/file $BOSH_INSTALL_TARGET/ && ln -s file $BOSH_INSTALL_TARGET/link",
          "chmod 750 $BOSH_INSTALL_TARGET/file; pwd > $BOSH_INSTALL_TARGET/cwd",
        ].join("\n"),
        "src/file": "content",
      },
      { dependencies },
    );
    expect(result.blobstore_id).toMatch(/^[0-9a-f]{8}-/);
    const archive = await readFile(join(paths.blobs, result.blobstore_id));
    expect(result.sha1).toBe(sha1(archive));
    const { "./env": env = "", ...others } = await entriesIn(archive);
    expect(others).toEqual({
      "./": "755 ",
      "./cwd": `644 ${join(paths.compile, "app")}\n`,
      "./file": "750 content",
      "./link": "777 file",
      "./said": "644 from ruby\n",
    });
    expect(env.slice(4).trim().split("\n")).toEqual([
      `BOSH_COMPILE_TARGET=${join(paths.compile, "app")}`,
      `BOSH_INSTALL_TARGET=${join(paths.packages, "app")}`,
      "BOSH_PACKAGE_NAME=app",
      "BOSH_PACKAGE_VERSION=1.1",
      `PATH=${join(paths.boshDir, "bin")}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    ]);
    await clean();
  });

  it("gives the same bytes for the same files, whenever it is done; without a script it packs nothing", async () => {
    const { compiling, clean } = await lab();
    const files = { packaging: "for n in b a c; do echo $n > $BOSH_INSTALL_TARGET/$n; done" };
    const first = await compiling(files);
    expect((await compiling(files)).result.sha1).toBe(first.result.sha1);
    expect((await compiling({ readme: "x" })).result.sha1).not.toBe(first.result.sha1);
    await clean();
  });

  it("packs a file with several names once, and the package has it under all of them", async () => {
    const { services, paths, compiling } = await lab();
    const { result } = await compiling({
      packaging: "cd $BOSH_INSTALL_TARGET; mkdir b; head -c 500000 /dev/urandom > a; ln a b/c; ln a d",
    });
    const archive = await readFile(join(paths.blobs, result.blobstore_id));
    expect(archive.length).toBeLessThan(600_000);
    const spec = await specOf(services, { jobs: { web: { monit: "" } } });
    const app = { name: "app", version: "1", ...result };
    await apply({ spec: { ...spec, packages: { app } } }, callOf(services));
    for (const name of ["a", "b/c", "d"]) {
      const { nlink, size } = await stat(join(paths.packages, "app", name));
      expect([nlink, size], name).toEqual([3, 500_000]);
    }
  });

  it("packs without compression what came without", async () => {
    const { paths, compiling } = await lab();
    const { result } = await compiling({ packaging: "echo x > $BOSH_INSTALL_TARGET/x" }, { gzip: false });
    expect((await readFile(join(paths.blobs, result.blobstore_id))).toString("latin1", 257, 262)).toBe(
      "ustar",
    );
  });

  it("reports a failed script with its package, upstream's words and the last lines, and compiles the next one", async () => {
    const { paths, compiling, clean } = await lab();
    const message = await messageOf(
      compiling({ packaging: "seq 1 100000; echo the reason >&2; touch $BOSH_INSTALL_TARGET/half; exit 7" }),
    );
    expect(message).toContain(
      "Compiling package app: Running packaging script: Command exited with 7; Truncated stdout: ",
    );
    expect(message).toContain("100000");
    expect(message).toContain("the reason");
    expect(message.length).toBeLessThan(25_000);
    expect(await readFile(join(paths.sysLog, "compilation", "packaging.stderr.log"), "utf8")).toContain(
      "the reason",
    );
    await clean();
    expect((await compiling({ packaging: "true" })).result.sha1).toMatch(/^[0-9a-f]{40}$/);
  });

  it("limits memory and log size for a script that floods its output", async () => {
    const { paths, compiling, clean } = await lab();
    const before = process.memoryUsage().rss;
    await messageOf(compiling({ packaging: "head -c 200000000 /dev/zero; exit 1" }));
    expect(process.memoryUsage().rss - before).toBeLessThan(100 << 20);
    const log = await readFile(join(paths.sysLog, "compilation", "packaging.stdout.log"));
    expect(log.length).toBe(64 << 20);
    await clean();
  });

  it("ends a hanging script and all its processes when the task is canceled", async () => {
    const { paths, compiling, clean } = await lab();
    const cancel = new AbortController();
    const running = compiling(
      { packaging: "echo waiting for godot; sleep 1000 & echo $! > $BOSH_INSTALL_TARGET/pid; wait" },
      { signal: cancel.signal },
    );
    const pidFile = join(paths.packages, "app", "pid");
    await expect.poll(() => readFile(pidFile, "utf8").catch(() => ""), { timeout: 20_000 }).toMatch(/\d/);
    const pid = Number(await readFile(pidFile, "utf8"));
    cancel.abort(new Error("the task was cancelled"));
    const message = await messageOf(running);
    expect(message).toContain("Compiling package app");
    expect(message).toContain("the task was cancelled");
    expect(message).toContain("waiting for godot");
    await expect.poll(() => readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z")).toContain(") Z");
    await clean();
  });

  it("ends what a killed agent's script left running, before it begins", async () => {
    const { services, paths, compiling } = await lab();
    const left = services.exec("sleep", ["1000"], {
      env: { BOSH_COMPILE_TARGET: join(paths.compile, "app") },
    });
    await compiling({ packaging: "true" });
    expect((await left).code).toBe(137);
  });

  it("names a damaged source or a missing dependency and leaves nothing behind", async () => {
    const { services, source, compiling, clean } = await lab();
    const { blobId } = await source({ packaging: "true" });
    const wrong = { blobId, digest: "0".repeat(40), name: "app", version: "1", dependencies: null };
    expect(await messageOf(compilePackage(wrong, callOf(services)))).toContain("Compiling package app");
    const dependencies = { go: { name: "go", version: "1", sha1: "1".repeat(40), blobstore_id: "none" } };
    expect(await messageOf(compiling({ packaging: "true" }, { dependencies }))).toContain(
      "Preparing package go",
    );
    await clean();
  });

  it("leaves the packages of running jobs alone", async () => {
    const { services, paths, compiling } = await lab();
    const spec = await specOf(services, { jobs: { web: { monit: "" } }, packages: { ruby: { a: "1" } } });
    await apply({ spec }, callOf(services));
    await compiling({ packaging: "true" });
    expect(await readFile(join(paths.packages, "ruby", "a"), "utf8")).toBe("1");
    expect(await readdir(paths.packages)).toEqual(["ruby"]);
  });

  it("removes directories that their owner may not write into", async () => {
    const { compiling, clean } = await lab();
    const script =
      "mkdir -p cache/deep $BOSH_INSTALL_TARGET/closed; touch {cache/deep,$BOSH_INSTALL_TARGET/closed}/x; ";
    await compiling({ packaging: `${script} chmod 555 cache/deep cache $BOSH_INSTALL_TARGET/closed` });
    await clean();
  });

  it("removes what an agent that was killed had half compiled", async () => {
    const { paths, compiling, clean } = await lab();
    await mkdir(join(paths.compile, "app", "old"), { recursive: true });
    await mkdir(join(paths.dataPackages, "app", sha1("1.1")), { recursive: true });
    await writeFile(join(paths.dataPackages, "app", sha1("1.1"), "half"), "x");
    const { result } = await compiling({ packaging: "ls > $BOSH_INSTALL_TARGET/seen" });
    const entries = await entriesIn(await readFile(join(paths.blobs, result.blobstore_id)));
    expect(entries).toEqual({ "./": "755 ", "./seen": "644 packaging\n" });
    await clean();
  });
});

describe("compile_package_with_signed_url", () => {
  it("fetches and puts by URL, with the given headers, and answers both digests", async () => {
    const { services, clean } = await lab();
    const server = await blobServer();
    const content = await archiveOf({ packaging: "echo built > $BOSH_INSTALL_TARGET/x" });
    server.blobs.set("/get?s=1", content);
    const request = {
      package_get_signed_url: `${server.url}/get?s=1`,
      upload_signed_url: `${server.url}/put?s=2`,
      digest: sha1(content),
      name: "app",
      version: "1",
      deps: {},
      blobstore_headers: { "x-enc": "k" },
    };
    const { result } = await compilePackageWithSignedUrl(
      { request },
      callOf({ ...services, clock: systemClock }),
    );
    const uploaded = server.blobs.get("/put?s=2") ?? Buffer.alloc(0);
    expect(result.sha1).toMatch(new RegExp(`^${sha1(uploaded)};sha512:[0-9a-f]{128}$`));
    expect(server.asked.map(({ headers }) => headers["x-enc"])).toEqual(["k", "k"]);
    expect(Object.keys(result)).toEqual(["sha1"]);
    server.troubles.push(500);
    const again = compilePackageWithSignedUrl(
      { request: { ...request, package_get_signed_url: "nonsense" } },
      callOf(services),
    );
    expect(await messageOf(again)).toContain("Compiling package app");
    await clean();
  });
});
