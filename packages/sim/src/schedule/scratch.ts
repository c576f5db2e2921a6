import { chmod, mkdtemp, readFile, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { Lab } from "./lab.ts";

const MEMORY = "/dev/shm";
const ROOM_BYTES = 2 ** 29;

/** Opens a lab in memory, if there is room and programs may be started from there. */
export async function openLab(): Promise<{ readonly lab: Lab; readonly close: () => Promise<void> }> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  const mounts = await readFile("/proc/self/mounts", "utf8").catch(() => "");
  const options = mounts.split("\n").find((line) => line.split(" ")[1] === MEMORY);
  const fits = bavail * bsize > ROOM_BYTES && options !== undefined && !/\bnoexec\b/.test(options);
  const dir = await mkdtemp(join(fits ? MEMORY : "/var/tmp", "slipway-sim-"));
  await chmod(dir, 0o711);
  const lab = await Lab.open(dir);
  const close = async () => {
    await lab.close().catch(() => undefined);
    await rm(dir, { recursive: true, force: true });
  };
  return { lab, close };
}

/** Works in a lab, and closes it afterwards or at a signal. */
export async function withLab<T>(work: (lab: Lab) => Promise<T>): Promise<T> {
  const { lab, close } = await openLab();
  // The database server is a process of its own, and would go on.
  for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const])
    process.once(signal, () => void close().finally(() => process.exit(code)));
  try {
    return await work(lab);
  } finally {
    await close();
  }
}
