import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unpackStemcell } from "@slipway/engine/stemcells/archive";
import { systemClock } from "@slipway/kernel/clock";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { DockerCloud, type DockerVm, engineTrouble } from "@slipway/testkit/docker-cloud";
import { AGENT_BUNDLE } from "@slipway/testkit/docker-image";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sizeText } from "../../ui/size-text.ts";
import { buildDockerStemcell } from "../build-docker.ts";
import type { BuiltStemcell } from "../build-local.ts";
import { inspectStemcell } from "../inspect-archive.ts";

// Minutes, and some tens of megabytes from a mirror: only where it is asked for.
const asked = (process.env.SLIPWAY_REQUIRE ?? "").split(",").includes("mmdebstrap");
const there = existsSync("/usr/bin/mmdebstrap") && process.getuid?.() === 0;
const why = asked ? "there is no mmdebstrap, or this is not root" : "SLIPWAY_REQUIRE does not name it";
const trouble = asked ? await engineTrouble() : undefined;
const engine = asked && needs("docker", trouble === undefined, trouble);
const LONG = 1_200_000;

describe.runIf(needs("mmdebstrap", asked && there, why))("a stemcell of real Debian packages", () => {
  let path: string;
  let remove: () => Promise<void>;
  let one: BuiltStemcell;
  let two: BuiltStemcell;
  let withSsh: BuiltStemcell;

  beforeAll(async () => {
    ({ path, remove } = await temporaryDirectory());
    const build = async (name: string, packages: readonly string[] = []) => {
      await mkdir(join(path, name));
      const order = { agent: AGENT_BUNDLE, node: process.execPath, env: process.env, packages };
      return await buildDockerStemcell({ ...order, to: join(path, name, "s.tgz"), clock: systemClock });
    };
    one = await build("one");
    const { size = 0, packages = 0 } = one.root ?? {};
    const took = Math.round(one.ms / 1000);
    process.stderr.write(
      `stemcell: ${sizeText(one.size)}, unpacked ${sizeText(size)}, ${packages} packages, ${took} s\n`,
    );
    // The groups of runit take numbers that groups of ours have without it.
    [two, withSsh] = await Promise.all([build("two"), build("ssh", ["openssh-server", "sudo", "runit"])]);
  }, LONG);
  afterAll(() => remove());

  it(
    "has the same bytes each time, in order, with nothing of this machine or of the time in it",
    async () => {
      expect(two.sha1).toBe(one.sha1);
      expect(await readdir(dirname(two.file))).toEqual(["s.tgz"]);
      expect((await inspectStemcell(one.file)).light).toBe(false);

      await systemExec("tar", ["-xzf", one.file, "-C", path, "image"]);
      const list = await systemExec("tar", ["--utc", "-tvzf", join(path, "image")], { keep: 16 << 20 });
      const lines = list.stdout.trim().split("\n");
      expect(lines.filter((line) => !line.includes(" 1980-01-02 00:00 "))).toEqual([]);
      const names = lines.map((line) => line.replace(/^.* 00:00 /, "").replace(/ (->|link to) .*/, ""));
      expect(new Set(names).size).toBe(names.length);
      for (const children of byDirectory(names).values()) expect(children.toSorted()).toEqual(children);
      for (const gone of ["etc/resolv.conf", "etc/hostname", "etc/shadow-", "dev/null"])
        expect(names).not.toContain(`./${gone}`);
      const leftover = /^\.\/(var\/log|usr\/share\/man|var\/lib\/apt\/lists)\/.*[^/]$/;
      // An empty file that apt makes wherever it looks.
      expect(names.filter((name) => leftover.test(name) && !name.endsWith("/lock"))).toEqual([]);
    },
    LONG,
  );

  describe.runIf(engine)("on a Docker Engine", () => {
    let cloud: DockerCloud;
    beforeAll(async () => {
      cloud = await DockerCloud.open();
    });
    afterAll(() => cloud.close());

    /** Unpacks and uploads a stemcell as the Director does, and starts a VM of it. */
    async function started({ file }: BuiltStemcell): Promise<DockerVm> {
      const dir = `${file}.unpacked`;
      await mkdir(dir);
      const { stemcell, imagePath } = await unpackStemcell(file, dir);
      const cid = await cloud.newStemcell(imagePath, stemcell.cloudProperties);
      return await (await cloud.newVm(cid)).pong();
    }

    it(
      "has an agent that answers and works on a disk, in exactly the packages it lists",
      async () => {
        const vm = await started(one);
        const disk = await cloud.newDisk();
        await cloud.mounted(vm, disk);
        await vm.must("echo kept >/var/vcap/store/file");
        await cloud.unmounted(vm, disk);
        await cloud.mounted(vm, disk);
        expect(await vm.must("cat /var/vcap/store/file")).toBe("kept");
        await cloud.unmounted(vm, disk);
        await cloud.result("delete_disk", [disk]);

        const listed = await systemExec("tar", ["-xzOf", one.file, "packages.txt"]);
        // biome-ignore lint/suspicious/noTemplateCurlyInString: these are the program's own.
        const format = "${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\\n";
        const installed = await vm.must(`dpkg-query -W -f '${format}' | LC_ALL=C sort`);
        expect(listed.stdout.trim().split("\n")).toEqual(installed.split("\n"));
        // It has what its agent sets passwords with, and those for whom it opens a session.
        await vm.must("echo 'vcap:$6$salt$hash' | chpasswd -e && useradd -m bosh_x && userdel -r bosh_x");
      },
      LONG,
    );

    it(
      "lets in, with openssh-server, whom its agent lets in, with their key alone",
      async () => {
        const vm = await started(withSsh);
        const key = join(cloud.dir, "key");
        await mustRun(systemExec, "making a key", "ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
        const setup = { user: "bosh_someone", public_key: await readFile(`${key}.pub`, "utf8") };
        const { host_public_key: host } = (await vm.value("ssh", "setup", setup)) as Record<string, string>;
        const trust = ["-o", "StrictHostKeyChecking=yes", "-o", `UserKnownHostsFile=${key}.hosts`];
        await systemExec("tee", [`${key}.hosts`], { input: `${vm.ip} ${host}\n` });
        const login = async (...command: readonly string[]) =>
          await systemExec("ssh", [
            ...["-i", key, "-o", "BatchMode=yes", "-o", "HostKeyAlgorithms=rsa-sha2-512", ...trust],
            ...[`${setup.user}@${vm.ip}`, ...command],
          ]);
        const { stdout, stderr } = await login("id", "-Gn", "&&", "sudo", "-n", "id", "-un");
        expect(stderr).toBe("");
        expect(stdout.split("\n")).toEqual(["bosh_someone bosh_sshers bosh_sudoers admin vcap", "root", ""]);
        expect(await vm.must("/usr/sbin/sshd -T | grep -E '^(password|permitroot|allowg)'")).toBe(
          "permitrootlogin no\npasswordauthentication no\nallowgroups bosh_sshers",
        );

        await vm.value("ssh", "cleanup", { user_regex: "^bosh_someone$" });
        expect((await login("true")).stderr).toContain("Permission denied");
      },
      LONG,
    );
  });
});

function byDirectory(names: readonly string[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of names) {
    const path = name.replace(/\/$/, "");
    const parent = dirname(path);
    found.set(parent, [...(found.get(parent) ?? []), basename(path)]);
  }
  return found;
}
