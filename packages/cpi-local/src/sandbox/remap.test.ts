import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRoot, LocalCloud, loopDisksTrouble, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeRootDirectory } from "../stemcells/testing/root-directory.ts";
import { firstIdOf } from "./remap.ts";

const trouble = (await sandboxTrouble()) ?? (isRoot ? await loopDisksTrouble() : "only root maps users");
/** A file system whose owners cannot be mapped: a sandbox that shares it has the host's users, as in earlier versions. */
const UNMAPPABLE = "/sys/class";

describe("the first id of a sandbox", () => {
  it("is the same each time, at the start of a range, and in 31 bits", () => {
    const first = firstIdOf("vm-1");
    expect(first).toBe(firstIdOf("vm-1"));
    expect(first).not.toBe(firstIdOf("vm-2"));
    for (let at = 0; at < 1000; at++) {
      const id = firstIdOf(`vm-${at}`);
      expect(id % 65_536).toBe(0);
      expect(id).toBeGreaterThanOrEqual(0x70000000);
      expect(id + 65_535).toBeLessThanOrEqual(0x7fffffff);
    }
  });
});

describe.runIf(needs("root-loop", trouble === undefined, trouble))("a sandbox of an earlier version", () => {
  it.each(["directory", "loop"] as const)(
    "keeps its files, its changed root and a disk of the kind %s when its users are mapped, and when they are not again",
    async (disks) => {
      const cloud = await LocalCloud.open({ disks, share: [UNMAPPABLE] });
      const scratch = await mkdtemp(join(tmpdir(), "slipway-root-"));
      onTestFinished(async () => {
        await cloud.close();
        await rm(scratch, { recursive: true, force: true });
      });
      await makeRootDirectory(join(scratch, "root"));
      const packed = execFileSync("tar", ["-c", "-C", join(scratch, "root"), "."], { maxBuffer: 1 << 30 });
      await writeFile(join(scratch, "image"), packed);
      const stemcell = await cloud.result<string>("create_stemcell", [join(scratch, "image"), {}]);
      const [vm] = await cloud.result<[string]>("create_vm", cloud.vmArguments(stemcell));
      await cloud.agentStarts(vm, 1);
      const disk = await cloud.newDisk();
      await cloud.result("attach_disk", [vm, disk]);
      const at = `/var/vcap/disks/${disk}`;
      const first = () =>
        Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${cloud.pid(vm)}/status`, "utf8"))?.[1]);
      expect(first()).toBe(0);
      await cloud.insideMust(
        vm,
        `set -e; echo data > ${at}/file; chown 1000:1001 ${at}/file; echo own > /var/vcap/own; chown 7 /var/vcap/own
         rm -r /etc; mkdir /etc; echo changed > /etc/changed; chown 33 /etc/changed`,
      );
      const looks = `set -e; stat -c %u:%g ${at}/file /var/vcap/own /etc/changed /etc; cat ${at}/file /var/vcap/own /etc/changed
         [ ! -e /etc/made-of ] && echo more >> /etc/changed && echo new > ${at}/new && echo new > /etc/new`;
      const seen = "1000:1001\n7:0\n33:0\n0:0\ndata\nown\nchanged\n";
      const starts = async (times: number) => {
        await cloud.result("reboot_vm", [vm]);
        await cloud.agentStarts(vm, times);
      };
      cloud.config.share.pop();
      await starts(2);
      expect(first()).toBe(firstIdOf(vm));
      expect(await cloud.insideMust(vm, looks)).toBe(seen);
      expect(statSync(cloud.vm(vm, "vcap", "own")).uid).toBe(7);
      // A disk that comes while it runs has its owners mapped, too, and goes again.
      await cloud.result("detach_disk", [vm, disk]);
      await cloud.result("attach_disk", [vm, disk]);
      expect(await cloud.insideMust(vm, `stat -c %u:%g ${at}/file ${at}/new`)).toBe("1000:1001\n0:0\n");
      cloud.config.share.push(UNMAPPABLE);
      await starts(3);
      expect(first()).toBe(0);
      expect(await cloud.insideMust(vm, looks)).toBe(seen.replace("changed\n", "changed\nmore\n"));
      await cloud.result("detach_disk", [vm, disk]);
    },
  );
});
