// A disk for `npm run conformance:agent` that can be formatted and enlarged from outside: a file behind a loop device.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** XFS wants at least 300 MiB; the file is sparse. */
const BYTES = 400 * 1024 * 1024;
const FILE = "kept-by-conformance";
const TOOLS = ["losetup", "mkfs.xfs", "xfs_growfs", "blkid", "blockdev", "unshare"];

/** Why there can be no such disk here; empty where there can. */
export function imageDiskLacks() {
  if (process.getuid() !== 0) return "a disk with a file system of its own needs root";
  if (!existsSync("/dev/loop-control")) return "there are no loop devices here";
  const missing = TOOLS.filter((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0);
  return missing.length > 0 ? `not installed here: ${missing.join(", ")}` : "";
}

/** `deeds`: what the control of the conformance checks is asked to do with it. */
export function imageDisk(dir) {
  const image = join(dir, "image-disk");
  const target = join(dir, "image-disk-seen");
  writeFileSync(image, "", { mode: 0o600 });
  truncateSync(image, BYTES);
  mkdirSync(target);
  const device = must("losetup", "--find", "--show", "--nooverlap", image).trim();
  /** In mounts that end with the command, so that nobody else has the device in use. */
  const inside = (script) =>
    must(
      "unshare",
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-ec",
      `mount "$0" "$1"; ${script}`,
      device,
      target,
    );
  return {
    hint: { path: device },
    deeds: {
      "disk xfs": () => {
        truncateSync(image, BYTES);
        must("losetup", "-c", device);
        must("mkfs.xfs", "-q", "-f", device);
        inside(`echo kept > "$1/${FILE}"; umount "$1"`);
      },
      "disk enlarge": () => {
        truncateSync(image, 2 * BYTES);
        must("losetup", "-c", device);
      },
      "disk kept": () => {
        const type = must("blkid", "-p", "-o", "value", "-s", "TYPE", device).trim();
        if (type !== "xfs") throw new Error(`the disk has ${type} now, not xfs`);
        const text = inside(`cat "$1/${FILE}"; umount "$1"`).trim();
        if (text !== "kept") throw new Error(`the file on the disk has ${JSON.stringify(text)}`);
      },
      "disk grown": () => {
        const [blocks, size] = inside('stat -f -c "%b %S" "$1"; umount "$1"').trim().split(" ").map(Number);
        if (blocks * size <= BYTES) throw new Error(`the file system has ${blocks * size} bytes`);
      },
    },
    stop: async () => {
      must("losetup", "--detach", device);
    },
  };
}

function must(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
