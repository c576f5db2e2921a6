import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it, onTestFinished } from "vitest";
import { pathsUnder } from "../../paths.ts";
import { NEVER, SETTINGS_TEXT, tools } from "../testing/settings-lab.ts";
import { makeSource } from "./make.ts";

const run = async (program: string, ...args: string[]) => {
  const result = await systemExec(program, args);
  if (result.code !== 0) throw new Error(`${program} ${args.join(" ")}: ${result.stderr}`);
  return result.stdout.trim();
};

/** Makes a drive with these files as the IaaS would, labelled, on a loop device. */
async function drive(
  kind: "vfat" | "ext4",
  label: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-drive-"));
  const [image, mounted] = [join(dir, "image"), join(dir, "mounted")];
  await mkdir(mounted);
  await writeFile(image, Buffer.alloc(8 << 20));
  if (kind === "vfat") await run("mkfs.vfat", "-n", label, image);
  else await run("mkfs.ext4", "-q", "-L", label, image);
  const device = await run("losetup", "--find", "--show", image);
  onTestFinished(async () => {
    await run("losetup", "-d", device);
    await rm(dir, { recursive: true, force: true });
  });
  await run("mount", device, mounted);
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(mounted, name, ".."), { recursive: true });
      await writeFile(join(mounted, name), content);
    }
  } finally {
    await run("umount", mounted);
  }
  return device;
}

async function works(kind: "vfat" | "ext4"): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const dir = await mkdtemp(join(tmpdir(), "slipway-drive-"));
  const image = join(dir, "image");
  try {
    await writeFile(image, Buffer.alloc(8 << 20));
    await run(`mkfs.${kind}`, ...(kind === "ext4" ? ["-q"] : []), image);
    await run("mount", "-o", "loop,ro", image, dir);
    await run("umount", dir);
    return true;
  } catch {
    return false;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

for (const kind of ["ext4", "vfat"] as const) {
  const able = needs(
    kind === "ext4" ? "root-loop" : "vfat-loop",
    await works(kind),
    `no root, or ${kind} cannot be mounted`,
  );
  describe.runIf(able)(`a real config drive (${kind})`, () => {
    const meta = JSON.stringify({ "instance-id": "i-7" });
    const files = { "ec2/latest/user-data": SETTINGS_TEXT, "ec2/latest/meta-data.json": meta };

    it("is read by its device and by its label, and is not mounted afterwards", async () => {
      const t = await tools();
      // Another suite may have a drive at the same time.
      const label = `cfg-${t.random.hex(3)}`;
      const device = await drive(kind, label, files);
      const here = { ...t, paths: pathsUnder(t.paths.base, "/"), exec: systemExec };
      for (const path of [device, `/dev/disk/by-label/${label}`]) {
        const source = makeSource({ Type: "ConfigDrive", DiskPaths: ["/dev/none", path] }, here);
        expect(await source.read(NEVER)).toBe(SETTINGS_TEXT);
        expect(await source.instanceId?.(NEVER)).toBe("i-7");
      }
      expect(await readFile("/proc/self/mounts", "utf8")).not.toContain(t.paths.base);
    });
  });
}
