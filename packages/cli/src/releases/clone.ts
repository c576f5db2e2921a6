import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandFailed } from "@slipway/kernel/exec";
import { type DirectoryTools, givenEnv } from "./release-directory.ts";

/** The last commit of a repository, in a directory that is gone afterwards. */
export async function clonedFrom<T>(
  repository: string,
  { exec, env, stop }: Pick<DirectoryTools, "exec" | "env" | "stop">,
  use: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-clone-"));
  try {
    const args = ["clone", "--quiet", "--depth", "1", "--", repository, dir];
    const { code, stderr } = await exec("git", args, { env: givenEnv(env), signal: stop });
    if (code !== 0)
      throw CommandFailed({ doing: "Cloning git repo", program: "git", code, stderr: stderr.trim() });
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
