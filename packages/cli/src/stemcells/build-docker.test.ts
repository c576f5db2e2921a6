import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { CommandMissing, type Exec, systemExec } from "@slipway/kernel/exec";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildDockerStemcell, type DockerStemcellOrder } from "./build-docker.ts";
import { inspectStemcell } from "./inspect-archive.ts";

let dir: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
  await mkdir(join(dir, "out"));
  await writeFile(join(dir, "agent.cjs"), "the agent");
});
afterEach(() => remove());

const BASH = "Package: bash\nStatus: install ok installed\nVersion: 5.2\nArchitecture: amd64\n";

interface Call {
  readonly program: string;
  readonly args: readonly string[];
  readonly input: unknown;
}

/** In place of mmdebstrap: unpacks what is put over Debian's files, and packs it again. */
function bootstrap(calls: Call[] = [], outcome = { code: 0, stderr: "" }): Exec {
  return async (program, args, options = {}) => {
    if (program === "tar") return await systemExec(program, args, options);
    calls.push({ program, args, input: options.input });
    const workDir = options.cwd;
    if (workDir === undefined || outcome.code !== 0) return { program, args, stdout: "", ...outcome };
    const root = join(workDir, "root");
    await mkdir(join(root, "var/lib/dpkg"), { recursive: true });
    await writeFile(join(root, "var/lib/dpkg/status"), BASH);
    await systemExec("tar", ["-xf", join(workDir, "files.tar"), "-C", root]);
    const same = ["--sort=name", "--mtime=@0", "--numeric-owner"];
    await systemExec("tar", ["-c", ...same, "-f", join(workDir, "root.tar"), "-C", root, "."]);
    return { program, args, code: 0, stdout: "", stderr: "" };
  };
}

const build = (to: string, order: Partial<DockerStemcellOrder> = {}) =>
  buildDockerStemcell({
    ...{ to: join(dir, "out", to), agent: join(dir, "agent.cjs"), node: join(dir, "agent.cjs") },
    ...{ env: {}, clock: systemClock, exec: bootstrap(), root: true, ...order },
  });

const tar = async (...args: readonly string[]) => (await systemExec("tar", args)).stdout;

describe("a stemcell for Docker", () => {
  it("has a root file system with the agent and its init, what the Docker CPI takes, and a list of packages", async () => {
    const built = await build("s.tgz");
    expect(built).toMatchObject({ name: "slipway-docker-debian-bookworm", version: "1.0", apiVersion: 3 });
    expect(built.root).toMatchObject({ packages: 1, size: expect.any(Number) });
    const { stemcell } = await inspectStemcell(built.file);
    expect(stemcell).toMatchObject({
      operatingSystem: "debian-bookworm",
      apiVersion: 3,
      formats: ["slipway-docker", "docker-tar", "general-tar"],
      cloudProperties: { infrastructure: "docker", command: ["/sbin/init"] },
    });
    expect(await tar("-xzOf", built.file, "packages.txt")).toBe("ii  bash 5.2 amd64\n");
    await tar("-xzf", built.file, "-C", dir, "image");
    const image = join(dir, "image");
    expect(await tar("-xzOf", image, "./usr/lib/slipway/slipway-agent.cjs")).toBe("the agent");
    const names = (await tar("-tzf", image)).split("\n");
    for (const name of ["./usr/sbin/init", "./usr/local/sbin/shutdown", "./var/vcap/bosh/agent.json"])
      expect(names).toContain(name);
    expect(await readdir(join(dir, "out"))).toEqual(["s.tgz"]);
  });

  it("has the same bytes when it is made of the same, wherever the packages came from", async () => {
    const one = await build("one.tgz");
    const two = await build("two.tgz", { mirror: "http://mirror.internal/debian" });
    expect(await readFile(one.file)).toEqual(await readFile(two.file));
  });

  it("can be its root file system alone", async () => {
    const built = await build("root.tar.gz", { rootOnly: true });
    expect((await tar("-tzf", built.file)).split("\n")).toContain("./usr/sbin/init");
    expect(built.size).toBe((await readFile(built.file)).length);
    expect(await readdir(join(dir, "out"))).toEqual(["root.tar.gz"]);
  });

  it("is made apart from the machine's mounts, and addresses of packages are no argument that others could read", async () => {
    const calls: Call[] = [];
    const mirror = "http://me:secret@m/debian";
    await build("s.tgz", { exec: bootstrap(calls), mirror, packages: ["curl"], suite: "trixie" });
    const made = calls.find(({ program }) => program === "unshare");
    expect(made?.args.slice(0, 2)).toEqual(["--mount", "mmdebstrap"]);
    expect(made?.args).toContain("trixie");
    expect(made?.args.join(" ")).toMatch(/--include=\S*,curl,/);
    expect(made?.args.join(" ")).not.toContain("secret");
    expect(made?.input).toContain(`${mirror} trixie main`);
    const asUser: Call[] = [];
    await build("s.tgz", { exec: bootstrap(asUser), root: false });
    expect(asUser.find(({ args }) => args.includes("--mode=unshare"))?.program).toBe("mmdebstrap");
  });

  it("keeps the old file if the build fails, and quotes mmdebstrap's last lines without passwords", async () => {
    await writeFile(join(dir, "out/s.tgz"), "before");
    const stderr = "I: downloading\nErr:1 http://me:secret@m/debian bookworm Release\nE: no Release file\n";
    const failed = build("s.tgz", { exec: bootstrap([], { code: 25, stderr }) });
    await expect(failed).rejects.toMatchObject({
      code: "CLS-008",
      message: expect.stringMatching(/said:\nErr:1 http:\/\/m\/debian bookworm Release\nE: no Release file$/),
    });
    const missing: Exec = (program) => Promise.reject(CommandMissing({ program }));
    await expect(build("s.tgz", { exec: missing })).rejects.toMatchObject({
      code: "CLS-007",
      next: expect.stringContaining("apt-get install mmdebstrap"),
    });
    expect(await readdir(join(dir, "out"))).toEqual(["s.tgz"]);
    expect(await readFile(join(dir, "out/s.tgz"), "utf8")).toBe("before");
    await expect(build("no/s.tgz")).rejects.toMatchObject({ code: "CLS-003" });
  });

  it.each<[Partial<DockerStemcellOrder>, string]>([
    [{ suite: "-x" }, "suite"],
    [{ suite: "bookworm root.tar" }, "suite"],
    [{ mirror: "/etc/passwd" }, "mirror"],
    [{ mirror: "http://m/debian x [trusted=yes]" }, "mirror"],
    [{ packages: ["curl", "a,b"] }, "package"],
    [{ packages: ["-y"] }, "package"],
    [{ name: "a/b" }, "name"],
  ])("is not made with %j, before anything is run", async (order, option) => {
    const calls: Call[] = [];
    await expect(build("s.tgz", { ...order, exec: bootstrap(calls) })).rejects.toMatchObject({
      code: "CLS-005",
      message: expect.stringContaining(`--${option}`),
    });
    expect(calls).toEqual([]);
  });
});
