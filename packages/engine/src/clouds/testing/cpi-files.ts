import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { DirectorUuid, RequestId } from "@slipway/protocol/ids";
import { onTestFinished } from "vitest";
import { type ExecCpi, execCpiPort } from "../exec-cpi.ts";

export const DIRECTOR = "5f0c1b9e-0d3a-4a52-8f58-2b0a8a5e1c11" as DirectorUuid;

export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-clouds-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export const request = (method = "has_vm", args: readonly unknown[] = ["vm-1"]): CpiRequest => ({
  method,
  arguments: [...args],
  context: { director_uuid: DIRECTOR, request_id: "cpi-1" as RequestId },
  api_version: 2,
});

export const OK = '{"result":true,"error":null,"log":""}';

/** A CPI that is this text, in a directory of its own. */
export async function cpiFile(text: string, options: { name?: string; mode?: number } = {}) {
  const dir = await tempDir();
  const path = join(dir, options.name ?? "cpi");
  await writeFile(path, text, { mode: options.mode ?? 0o755 });
  return { dir, path, note: (name: string) => readFile(join(dir, name), "utf8").catch(() => undefined) };
}

/** Collects what a call logs. */
export function logBook() {
  let text = "";
  return {
    log: (more: string) => {
      text += more;
    },
    get text() {
      return text;
    },
  };
}

interface Called {
  readonly reply: CpiResponse | undefined;
  readonly error: unknown;
  readonly log: string;
}

export interface CallText extends Partial<Omit<ExecCpi, "path">> {
  readonly name?: string;
  readonly mode?: number;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** One call through the executable port. */
export async function callPath(path: string, options: CallText = {}, sent = request()): Promise<Called> {
  const { deadlineMs = 50_000, signal, name: _, mode: __, ...cpi } = options;
  const port = execCpiPort({ clock: systemClock, ...cpi, path });
  const book = logBook();
  const hide = (text: string) => text.replaceAll("CANARY", "hidden");
  return await port.call(sent, { deadlineMs, signal, log: book.log, hide }).then(
    (reply) => ({ reply, error: undefined, log: book.text }),
    (error: unknown) => ({ reply: undefined, error, log: book.text }),
  );
}

export async function callText(text: string, options: CallText = {}, sent = request()): Promise<Called> {
  const { path } = await cpiFile(text, options);
  return await callPath(path, options, sent);
}

/** Ended and not yet reaped by its parent is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, "utf8"));
}
