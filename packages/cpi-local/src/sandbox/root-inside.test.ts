import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { bundled } from "@slipway/testkit/bundle";
import { isRoot, LocalCloud, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { sampleOf } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const trouble = await sandboxTrouble();
const possible =
  needs("userns", trouble === undefined, trouble) &&
  needs(
    "userns",
    (await systemExec("unshare", ["--user", "true"])).code === 0,
    "where nobody makes user namespaces, sandboxes of root do without",
  );

const NOBODY = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
/** True if root can make sandboxes of an ordinary user, too. */
const userToo =
  isRoot && (await systemExec("setpriv", [...NOBODY, process.execPath, "-e", "0"])).code === 0
    ? (await systemExec("setpriv", [...NOBODY, "unshare", "--user", "--map-root-user", "true"])).code === 0
    : false;
const OWNERS = [...(isRoot ? ["root"] : []), ...(userToo || !isRoot ? ["an ordinary user"] : [])];

/** Directories of the host with something in them. */
const HIDDEN = ["/usr/share/doc", "/var/log"].filter((dir) => readdirSync(dir).length > 0);
const program = bundled("../main.ts", import.meta.url);

/** Calls the CPI as user nobody, whatever user runs the test. */
async function callAsNobody(cloud: LocalCloud): Promise<void> {
  const file = join(cloud.dir, "cpi.json");
  await writeFile(file, JSON.stringify({ cloud: { properties: { local: cloud.config } } }));
  await systemExec("chown", ["-R", "65534:65534", cloud.dir]);
  cloud.through = async (request) => {
    const args = [...NOBODY, process.execPath, program(), "--configFile", file];
    const { stdout } = await systemExec("setpriv", args, { input: JSON.stringify(request) });
    return JSON.parse(stdout) as CpiResponse;
  };
}

describe.runIf(possible).each(sampleOf("owners of sandboxes", OWNERS, 1))(
  "root in a sandbox of %s",
  (owner) => {
    let cloud: LocalCloud;
    let vm: string;
    beforeAll(async () => {
      cloud = await LocalCloud.open({ hide: HIDDEN });
      if (isRoot && owner !== "root") await callAsNobody(cloud);
      vm = await cloud.newVm();
    });
    afterAll(() => cloud.close());

    /** Shows whatever of the host's can be seen that is to be hidden. */
    const look = () =>
      `{ ls -d '${cloud.dir}/vms'; ls -A ${HIDDEN.join(" ")} | grep -v -e : -e '^$'; } 2> /dev/null`;

    it.each([
      [
        "takes away every mount there is",
        "for at in $(cut -d' ' -f5 /proc/self/mountinfo | sort -r); do [ $at = / ] || umount -l $at; done",
      ],
      ["puts another root in place", "umount -l /"],
      ["moves what hides it", `for at in ${HIDDEN.join(" ")} /var; do mount --move $at /tmp; done`],
      ["mounts what is below", "mkdir /tmp/below; mount --bind / /tmp/below; cd /tmp/below/var/log && ls -A"],
    ])("sees nothing of what is hidden when it %s", async (_, attack) => {
      expect(HIDDEN).not.toEqual([]);
      const other = await cloud.newVm();
      const { stdout } = await cloud.inside(other, `{ ${attack}; } 2> /dev/null; ${look()}`);
      // A process that enters later does not see it either.
      const later = await cloud.inside(other, look());
      expect([stdout, later.stdout]).toEqual(["", ""]);
      await cloud.result("delete_vm", [other]);
    });

    const sets = (at: string) =>
      `was=$(cat ${at}/kernel/core_pattern) && echo $was > ${at}/kernel/core_pattern`;
    it.each([
      ["all devices of the machine", "mount -t devtmpfs none /tmp"],
      ["a disk of the machine", "mknod /tmp/disk b 7 0 && head -c 1 /tmp/disk"],
      ["the settings of its kernel", `mkdir /tmp/p && mount -t proc none /tmp/p && ${sets("/tmp/p/sys")}`],
      ["them where they are", `mount -o remount,rw /proc/sys && ${sets("/proc/sys")}`],
    ])("does not get at %s", async (_, attack) => {
      expect((await cloud.inside(vm, attack)).code).not.toBe(0);
    });

    it.runIf(owner === "root")("has the devices that programs use, and no disk among them", async () => {
      const shown = await cloud.insideMust(
        vm,
        "find /dev -type b; echo > /dev/null; head -c 1 /dev/zero | wc -c",
      );
      expect(shown).toBe("1\n");
    });
  },
);
