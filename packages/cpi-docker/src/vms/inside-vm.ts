import { cloudError, vmNotFound } from "@slipway/cpi-sdk/errors";
import type { DockerCloudContext } from "../cloud-context.ts";
import { type ArchiveFile, putFiles } from "../engine/archive.ts";
import type { ExecResult } from "../engine/exec.ts";
import { type ContainerProgram, runIn, wordsOf } from "../engine/session.ts";
import { EngineRefused } from "../errors.ts";
import { LABEL } from "../labels.ts";
import { type Container, findVm } from "./containers.ts";

/** Runs a program in a VM, if that runs. */
export async function inVm(
  cloud: DockerCloudContext,
  vm: string,
  program: ContainerProgram,
): Promise<ExecResult | "off" | "gone"> {
  try {
    return await runIn(cloud.engine, vm, program, `running ${wordsOf(program)[0]} in VM '${vm}'`);
  } catch (error) {
    if (!EngineRefused.is(error)) throw error;
    const found = await findVm(cloud, vm);
    if (found === undefined) return "gone";
    if (!found.State.Running || found.State.Status === "restarting") return "off";
    throw error;
  }
}

/** Reports whether a script of ours started the VM, and its agent replaces some files in /etc. */
export const hasUpstreamAgent = ({ Config }: Container): boolean => Config.Labels?.[LABEL.init] !== undefined;

const WRITE = `set -eu
umask 077
mkdir -p "\${1%/*}"
printf %s "$2" >"$1.new"
mv "$1.new" "$1"`;

/**
 * Puts a file into a VM. While an engine does that itself it binds its own files over three of /etc once more, for a
 * moment and for all to see: an agent that writes one of them then fails, or writes to what is gone afterwards.
 */
export async function putIntoVm(
  cloud: DockerCloudContext,
  vm: string,
  found: Container,
  file: ArchiveFile,
  doing: string,
): Promise<void> {
  const ran = hasUpstreamAgent(found)
    ? await inVm(cloud, vm, { script: WRITE, args: [`/${file.name}`, file.content] })
    : "off";
  if (ran === "gone") throw vmNotFound(vm);
  if (ran === "off") await putFiles(cloud.engine, vm, [file], doing);
  else if (ran.code !== 0) throw cloudError(`${doing}: ${ran.stderr.trim().slice(-300)}`);
}
