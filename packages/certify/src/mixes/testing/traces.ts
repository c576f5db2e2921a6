import { readdirSync, readFileSync } from "node:fs";

/** Commands of processes that name this directory. */
export const processesOf = (dir: string): readonly string[] =>
  readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    const command = textOf(`/proc/${pid}/cmdline`);
    return command.includes(dir) ? [command.replaceAll("\0", " ")] : [];
  });

/** Files behind the loop devices of this machine. */
export const loopFiles = (): readonly string[] =>
  readdirSync("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .flatMap((name) => textOf(`/sys/block/${name}/loop/backing_file`) || []);

/** Nothing for what is gone by now. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
