import { join } from "node:path";
import { CommandFailed, CommandMissing, type Exec, type ExecResult } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import { GitModified } from "./errors.ts";

export interface GitState {
  /** Short; `non-git` outside a repository, `empty` in one without a commit. */
  readonly commit: string;
  readonly modified: boolean;
}

/** Returns the commit that the release is built from. Refuses uncommitted changes unless forced. */
export async function gitState(
  dir: string,
  {
    force,
    exec,
    env,
  }: { readonly force: boolean; readonly exec: Exec; readonly env: Record<string, string> },
): Promise<GitState> {
  const git = async (...args: readonly string[]): Promise<ExecResult | undefined> => {
    try {
      return await exec("git", args, { cwd: dir, env });
    } catch (error) {
      if (CommandMissing.is(error)) return undefined;
      throw error;
    }
  };
  const status = await git("status", "--porcelain=1");
  if (status?.code !== 0) {
    const isNone = !(await exists(join(dir, ".git"))) && (await git("rev-parse", "--git-dir"))?.code !== 0;
    if (isNone) return { commit: "non-git", modified: false };
    throw failed("Checking status", status);
  }
  const changes = status.stdout.trimEnd();
  if (changes !== "" && !force) throw GitModified({ changes });
  const head = await git("rev-parse", "--short", "HEAD");
  if (head?.code === 0) return { commit: head.stdout.trim(), modified: changes !== "" };
  if (head?.stderr.includes("Needed a single revision")) return { commit: "empty", modified: changes !== "" };
  throw failed("Checking last commit SHA", head);
}

const failed = (doing: string, result: ExecResult | undefined) =>
  CommandFailed({
    doing,
    program: "git",
    code: result?.code ?? 127,
    stderr: result?.stderr.trim() || "it is not installed",
  });
