import { type Backend, counted, type Seen } from "../cpis/descriptor.ts";

/** Nobody should have to find out that something still runs. */
export function leftRunning({ outlives, words, engine }: Backend, { vms, trouble }: Seen): readonly string[] {
  if (!outlives) return [];
  if (trouble !== undefined) return [`Whether ${words.many} run on is not known: ${trouble}.`];
  const running = vms.filter((vm) => vm.running).length;
  if (running === 0) return [];
  return [`${counted(running, words)} ${running === 1 ? "runs" : "run"} on, at ${engine}.`];
}
