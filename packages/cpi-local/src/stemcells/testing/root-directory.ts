import { execFileSync } from "node:child_process";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const PROGRAMS = ["sh", "ls", "cat", "mount", "sleep", "tail", "chown", "mkdir", "rm", "stat"];

/** Makes a root file system in `dir`: a shell, some programs and what they need. Node is the host's. */
export async function makeRootDirectory(dir: string): Promise<void> {
  await mkdir(join(dir, "bin"), { recursive: true });
  const found = PROGRAMS.map((name) =>
    execFileSync("sh", ["-c", 'readlink -f "$(command -v "$1")"', "sh", name], { encoding: "utf8" }).trim(),
  );
  const libraries = [...found, process.execPath].flatMap((program) =>
    [...execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/(\/[^\s]+) \(0x/g)].map(
      ([, path = ""]) => path,
    ),
  );
  for (const [at, program] of found.entries()) await copyFile(program, join(dir, "bin", PROGRAMS[at] ?? ""));
  for (const library of new Set(libraries)) {
    await mkdir(dirname(join(dir, library)), { recursive: true });
    await copyFile(library, join(dir, library));
    await chmod(join(dir, library), 0o755);
  }
  await mkdir(join(dir, "etc"));
  await mkdir(join(dir, "var", "vcap", "bosh"), { recursive: true });
  await writeFile(join(dir, "etc", "made-of"), "an image");
  await writeFile(join(dir, "var", "vcap", "bosh", "came-with-it"), "yes");
}
