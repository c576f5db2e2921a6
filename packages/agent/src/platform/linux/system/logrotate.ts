import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { exists } from "@slipway/kernel/files";
import type { Paths } from "../../../paths.ts";

/** Logs stand up to this deep below `sys/log`. */
const DEPTHS = ["*", "*/*", "*/*/*"];

/** Writes the rule by which the machine's logrotate keeps the logs of jobs small. False when it has none. */
export async function writeLogrotate(paths: Paths, size: string): Promise<boolean> {
  const programs = ["usr/sbin/logrotate", "usr/bin/logrotate", "sbin/logrotate"];
  const there = await Promise.all(programs.map((program) => exists(paths.system(program))));
  if (!there.includes(true)) return false;
  const directory = paths.system("etc", "logrotate.d");
  const path = join(directory, "vcap");
  const content = ruleFor(join(paths.data, "sys", "log"), size);
  if ((await readFile(path, "utf8").catch(() => "")) === content) return true;
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await writeFileAtomic(path, content, 0o644);
  return true;
}

/** Jobs keep their files open, so they are copied and cut off; upstream keeps as many, too. */
function ruleFor(directory: string, size: string): string {
  const logs = DEPTHS.flatMap((depth) => [`${depth}.log`, `${depth.replace(/\*$/, ".*")}.log`]);
  return [
    "# Written by the agent.",
    `${logs.map((pattern) => join(directory, pattern)).join(" ")} {`,
    "  missingok",
    "  rotate 7",
    "  compress",
    "  delaycompress",
    "  copytruncate",
    `  size ${size}`,
    // The directories belong to root and the group of the jobs, which logrotate does not trust otherwise.
    "  su root root",
    "}",
    "",
  ].join("\n");
}
