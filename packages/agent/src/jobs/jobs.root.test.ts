import { createHash } from "node:crypto";
import { chown, lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { apply } from "../actions/apply.ts";
import { compilePackage } from "../actions/compile_package.ts";
import { CompileFailed } from "../packages/errors.ts";
import type { AgentServices } from "../services.ts";
import { archiveOf, callOf, labServices, sha1, specOf, treeOf } from "./testing/lab.ts";

const root = needs(
  "root-loop",
  process.getuid?.() === 0,
  "mounting a small disk and giving files away needs root",
);
const VCAP = 54321;

/** Noise of this many bytes, which no archive makes smaller. */
function noise(bytes: number): string {
  let text = "";
  for (let at = 0; text.length < bytes; at++) text += createHash("sha512").update(`${at}`).digest("base64");
  return text.slice(0, bytes);
}

async function lab(size?: string) {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const base = join(path, "vcap");
  await mkdir(join(base, "data"), { recursive: true });
  const services = await labServices(base);
  if (size !== undefined) {
    const { data } = services.paths;
    const mounted = await systemExec("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", data]);
    expect(mounted.code, mounted.stderr).toBe(0);
    onTestFinished(async () => void (await systemExec("umount", ["--lazy", data])));
    await labServices(base);
  }
  return { services, paths: services.paths, call: callOf(services) };
}

async function compilationOf(services: AgentServices, content: Buffer) {
  await services.blobs.write("blobs", "source", content);
  return { blobId: "source", digest: sha1(content), name: "app", version: "1", dependencies: null };
}

describe.runIf(root)("jobs of root", () => {
  it("belong to root and the group of jobs, packages to root alone but for their own directory", async () => {
    const { services, paths, call } = await lab();
    for (const directory of [paths.dataJobs, paths.dataPackages, paths.sysLog])
      await chown(directory, 0, VCAP);
    const spec = await specOf(services, {
      jobs: { web: { monit: "m", "bin/ctl": "c" } },
      packages: { ruby: { "bin/ruby": "r" } },
    });
    await apply({ spec }, call);
    const ownerOf = async (...path: string[]) => {
      const { uid, gid } = await lstat(join(...path));
      return `${uid}:${gid}`;
    };
    const job = await realpath(join(paths.jobs, "web"));
    const theirs = `0:${VCAP}`;
    for (const name of [".", "monit", "bin", "bin/ctl", "packages"])
      expect(await ownerOf(job, name), name).toBe(theirs);
    for (const name of [join(paths.sysLog, "web"), join(paths.sysRun, "web"), join(paths.data, "web")])
      expect(await ownerOf(name), name).toBe(theirs);
    expect(await ownerOf(paths.dataJobs, "web")).toBe(theirs);
    expect(((await lstat(join(paths.dataJobs, "web"))).mode & 0o777).toString(8)).toBe("750");
    const ruby = await realpath(join(paths.packages, "ruby"));
    expect([await ownerOf(ruby), await ownerOf(ruby, "bin", "ruby")]).toEqual([theirs, "0:0"]);
  });

  it("are rendered into memory where the settings want it, and nothing of them touches the disk", async () => {
    const { services, paths, call } = await lab();
    for (const directory of [paths.dataJobs, paths.sensitiveBlobs]) {
      const mounted = await systemExec("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", directory]);
      expect(mounted.code, mounted.stderr).toBe(0);
      onTestFinished(async () => void (await systemExec("umount", ["--lazy", directory])));
    }
    const secret = "canary-of-a-template";
    await apply({ spec: await specOf(services, { jobs: { web: { "config/secret": secret } } }) }, call);
    expect(await readFile(join(paths.jobs, "web", "config", "secret"), "utf8")).toBe(secret);
    for (const directory of [paths.dataJobs, paths.sensitiveBlobs])
      await systemExec("umount", ["--lazy", directory]);
    expect(JSON.stringify(treeOf(paths.base))).not.toContain(secret);
  });

  it("leave the old ones in place if the disk is full, and are installed once there is room", async () => {
    const { services, paths, call } = await lab("4m");
    await apply({ spec: await specOf(services, { jobs: { web: { monit: "old" } } }) }, call);
    const large = await specOf(services, {
      jobs: { web: { monit: "new" } },
      packages: { big: { "bin/a": noise(900_000), "bin/b": noise(900_000) } },
    });
    const fill = join(paths.data, "fill");
    await writeFile(fill, Buffer.alloc(2_200_000));
    const before = treeOf(paths.data);
    await expect(apply({ spec: large }, call)).rejects.toThrow(/Preparing package big: .*ENOSPC/);
    expect(treeOf(paths.data)).toEqual(before);
    expect(await readFile(join(paths.jobs, "web", "monit"), "utf8")).toBe("old");
    await rm(fill);
    expect(await apply({ spec: large }, call)).toBe("applied");
    expect(await readFile(join(paths.jobs, "web", "packages", "big", "bin", "b"), "utf8")).toHaveLength(
      900_000,
    );
  });
});

describe.runIf(root)("a compilation on a disk that is full", () => {
  it("names the package with the last lines, leaves nothing, and works once there is room", async () => {
    const { services, paths, call } = await lab("4m");
    const content = await archiveOf({
      packaging: "set -e\necho about to write\nhead -c 3000000 /dev/zero > $BOSH_INSTALL_TARGET/large",
    });
    const request = await compilationOf(services, content);
    const fill = join(paths.data, "fill");
    await writeFile(fill, Buffer.alloc(2_000_000));
    const failure = await compilePackage(request, call).catch((error: unknown) => error);
    expect(CompileFailed.is(failure)).toBe(true);
    expect(String(failure)).toContain("Compiling package app");
    expect(String(failure)).toContain("about to write");
    expect(String(failure)).toMatch(/No space left on device/);
    for (const directory of [paths.packages, paths.dataPackages, paths.compile, paths.dataTmp])
      expect(await readdir(directory), directory).toEqual([]);
    await rm(fill);
    expect((await compilePackage(request, call)).result.blobstore_id).not.toBe("");
  });

  it("leaves nothing behind if its source cannot be unpacked", async () => {
    const { services, paths, call } = await lab("2m");
    const content = await archiveOf({ packaging: "true", large: "0".repeat(3_000_000) });
    const request = await compilationOf(services, content);
    await expect(compilePackage(request, call)).rejects.toThrow(/Compiling package app: .*ENOSPC/);
    expect(await readdir(paths.compile)).toEqual([]);
  });
});
