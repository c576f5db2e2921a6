import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandMissing, type Exec, systemExec } from "@slipway/kernel/exec";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SEARCHED } from "./host-programs.ts";
import { type HostRoot, hostRoot, hostRootId } from "./host-root.ts";

sampleTests(1 / 3);

let dir: string;
let agent: string;
let made: HostRoot;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
  agent = join(dir, "agent.cjs");
  await writeFile(agent, "console.log('the agent');\n");
  await mkdir(join(dir, "out"));
  made = await hostRoot({ agent, to: join(dir, "out/root.tar") });
});
afterAll(() => remove());

const tar = async (...args: readonly string[]) => (await systemExec("tar", args, { keep: 1 << 22 })).stdout;

describe("a root file system of this machine's programs", () => {
  it("is a tar of files of root, in order, without a time or a right that this machine gave", async () => {
    const lines = (await tar("--utc", "--numeric-owner", "-tvf", made.path)).trim().split("\n");
    for (const line of lines)
      expect(line).toMatch(/^[-dl]([r-][w-][x-]){2}([r-][w-][xt-]) 0\/0 .* 1980-01-02 00:00 /);
    const names = lines.map((line) =>
      line
        .replace(/^.* 00:00 /, "")
        .replace(/ -> .*/, "")
        .replace(/\/$/, ""),
    );
    expect(names).toEqual([...new Set(names)].sort());
    expect(names).toEqual(
      expect.arrayContaining(["usr/sbin/init", "usr/bin/mount", "usr/bin/awk", "tmp", "proc"]),
    );
    expect(await readdir(join(dir, "out"))).toEqual(["root.tar"]);
  });

  it("has the same bytes and id each time, and others with another agent", async () => {
    // Small, so that this is quick.
    const small = { agent, node: agent };
    const one = await hostRoot({ ...small, to: join(dir, "one.tar") });
    expect(await hostRootId(small)).toBe(one.id);
    const two = await hostRoot({ ...small, to: join(dir, "two.tar") });
    expect(two).toEqual({ ...one, path: two.path });
    expect((await readFile(two.path)).equals(await readFile(one.path))).toBe(true);
    const other = join(dir, "other.cjs");
    await writeFile(other, "console.log('another');\n");
    expect(await hostRootId({ ...small, agent: other })).not.toBe(one.id);
  });

  it.skipIf(process.getuid?.() !== 0)("runs its programs with its own libraries alone", async () => {
    const root = join(dir, "root");
    await mkdir(root);
    await tar("-xf", made.path, "-C", root);
    const run = async (script: string, input = "") => {
      const { code, stdout, stderr } = await systemExec("chroot", [root, "/bin/sh", "-c", script], { input });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return stdout;
    };
    expect(await run("node /usr/local/bin/slipway-agent")).toBe("the agent\n");
    const names = await readdir(join(root, "usr/bin"));
    const broken = `for name in ${names.join(" ")}; do
      case $(LD_TRACE_LOADED_OBJECTS=1 "/usr/bin/$name" 2>&1 </dev/null) in *"not found"*) echo "$name" ;; esac
    done`;
    expect(await run(broken)).toBe("");
    expect(await run("id vcap")).toBe(
      "uid=1000(vcap) gid=1000(vcap) groups=1000(vcap),999(admin),998(bosh_sudoers),997(bosh_sshers)\n",
    );
    // As the agent sets passwords: hashes on standard input.
    await run("chpasswd -e", "vcap:$6$salt$hash/with.signs\nnobody:x\n");
    expect(await readFile(join(root, "etc/shadow"), "utf8")).toMatch(
      /^root:\*:\d+:.*\nvcap:\$6\$salt\$hash\/with\.signs:\d+:0:/,
    );
    await run("chpasswd -e", "");
    expect(await readFile(join(root, "etc/shadow"), "utf8")).toMatch(/^root:\*:.*\nvcap:\$6\$.*\n$/);
  });

  it("takes programs from the given places first, and the second name of one as a link", async () => {
    const bin = join(dir, "bin");
    await mkdir(bin);
    for (const name of ["mount", "mkfs.xfs"]) {
      await writeFile(join(bin, name), `#!/bin/sh\n# ${name}\n`);
      await chmod(join(bin, name), 0o4755);
    }
    const to = join(dir, "told.tar");
    const { missing } = await hostRoot({ agent, node: agent, to, places: [bin, ...SEARCHED] });
    expect(missing).not.toContain("mkfs.xfs");
    expect(await tar("-xOf", to, "usr/bin/mount")).toBe("#!/bin/sh\n# mount\n");
    expect(await tar("-tvf", to, "usr/bin/mkfs.ext4")).toMatch(/^l.* -> mke2fs$/m);
  });

  it("is not made, and nothing is left, without what it needs; what is missing is named", async () => {
    const without: Exec = (program) => Promise.reject(CommandMissing({ program }));
    const lost: Exec = async (program, args) => ({
      ...{ program, args, code: 0, stderr: "" },
      stdout: "/usr/bin/cat:\n\tlibfar.so.1 => not found\n",
    });
    const to = join(dir, "out/none.tar");
    const refused = (exec: Exec, why: string, places = SEARCHED) =>
      expect(hostRoot({ agent, to, exec, places })).rejects.toMatchObject({
        code: "DOC-020",
        message: expect.stringContaining(why),
      });
    await refused(systemExec, "no sh (Debian's package dash), no e2fsck (Debian's package e2fsprogs)", [dir]);
    await refused(without, "there is no ldd (Debian's package libc-bin)");
    await refused(lost, "needs the library libfar.so.1");
    await expect(hostRoot({ agent: join(dir, "no-agent"), to })).rejects.toThrow("ENOENT");
    expect(await readdir(join(dir, "out"))).toEqual(["root.tar"]);
  });
});
