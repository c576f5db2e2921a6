import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import { eventually } from "@slipway/testkit/eventually";
import type { FakeWorld } from "../../testing/fake-services.ts";
import type { ActionCall } from "../action.ts";

/** Bash scripts of jobs that a specification names. */
export interface JobScripts {
  readonly call: ActionCall;
  readonly cancel: () => void;
  /** A job of the specification, with scripts below `bin`. */
  job(name: string, scripts?: Readonly<Record<string, string>>): Promise<void>;
  /** A place that scripts write to as `$NOTES`. */
  readonly notes: string;
  noted(): Promise<string>;
  /** Resolves when the notes hold this. */
  until(text: string): Promise<void>;
  readonly log: (job: string, file: string) => Promise<string>;
}

export function jobScripts(world: FakeWorld, clock: Clock = world.services.clock): JobScripts {
  const controller = new AbortController();
  const { paths } = world.services;
  const notes = join(paths.base, "notes");
  const noted = () => readFile(notes, "utf8").catch(() => "");
  return {
    call: { services: { ...world.services, clock }, protocol: 3, signal: controller.signal },
    cancel: () => controller.abort(new Error("the task was cancelled")),
    job: async (name, scripts = {}) => {
      const before = world.spec ?? {};
      world.spec = {
        configuration_hash: "hash-1",
        ...before,
        job: { name: "api", templates: [...(before.job?.templates ?? []), { name, version: "1" }] },
        rendered_templates_archive: { blobstore_id: "b", sha1: "s" },
      } as ApplySpec;
      for (const [script, text] of Object.entries(scripts)) {
        const path = join(paths.jobs, name, "bin", script);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, `#!/bin/bash\nNOTES=${notes}\n${text}\n`);
        await chmod(path, 0o750);
      }
    },
    notes,
    noted,
    until: async (text) => {
      await eventually(`a note of ${text}`, async () => ((await noted()).includes(text) ? true : undefined));
    },
    log: (job, file) => readFile(join(paths.sysLog, job, file), "utf8"),
  };
}

/** Resolves when the process is gone; a dead one that nobody has reaped yet is gone. */
export async function gone(pid: number): Promise<void> {
  await eventually(`the end of process ${pid}`, async () => {
    const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return text === "" || /^[ZX]/.test(text.slice(text.lastIndexOf(")") + 2)) ? true : undefined;
  });
}
