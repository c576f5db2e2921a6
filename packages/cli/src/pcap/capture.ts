import type { Tools } from "../tools.ts";
import type { CaptureFile } from "./capture-file.ts";
import { CaptureRefused, DifferentLinks, NoTcpdump } from "./errors.ts";
import { mergeCaptures, type OpenCapture, oneKind, openCapture } from "./merge.ts";
import { NO_TCPDUMP } from "./remote.ts";
import type { Remote } from "./run-remote.ts";

export interface Captured {
  /** How many VMs have captured. */
  readonly vms: number;
  /** Failures of VMs whose capture ended before it was stopped. */
  readonly failures: readonly string[];
}

/**
 * Writes packets of all VMs to one file, until the user stops it or all have ended. Writes nothing before all have begun: a VM
 * without tcpdump, or with another kind of link, is reported before. Ends all of them in any case.
 */
export async function capture(
  remotes: readonly Remote[],
  file: CaptureFile,
  stopMs: number,
  { ui, clock, stop }: Pick<Tools, "ui" | "clock" | "stop">,
): Promise<Captured> {
  const ending = endingOf(remotes, (kill) => clock.after(stopMs, kill));
  const failures: string[] = [];
  const ended = async (remote: Remote, broken: boolean) => {
    if (broken) remote.kill();
    const { code, said } = await remote.ended;
    const dropped = said.split("\n").filter((line) => /^[1-9]\d* packets? dropped/.test(line));
    for (const line of dropped) ui.note(`${remote.name}: ${line}`);
    if (!broken && (ending.isBegun() || code === 0)) return;
    const failure = `${remote.name}: ${broken ? "what it sends is broken" : whyEnded(code, said)}`;
    failures.push(failure);
    ui.note(failure);
  };
  stop.addEventListener("abort", ending.begin, { once: true });
  if (stop.aborted) ending.begin();
  try {
    const begun = await allBegun(remotes, ending.isBegun);
    if (begun.length === 0) return { vms: 0, failures };
    const one = oneKind(begun);
    if ("links" in one) throw DifferentLinks({ links: one.links });
    if (!ending.isBegun()) ui.note(`Capturing in ${counted(begun.length, "VM")}; Ctrl-C ends it.`);
    await mergeCaptures(
      begun,
      one.kind,
      (bytes, packets) => file.write(bytes, packets),
      async (name, broken) => {
        for (const remote of remotes) if (remote.name === name) await ended(remote, broken);
      },
    );
    return { vms: begun.length, failures };
  } finally {
    stop.removeEventListener("abort", ending.begin);
    ending.begin();
    for (const remote of remotes) remote.leave();
    await Promise.allSettled(remotes.map((remote) => remote.ended));
    ending.over();
  }
}

/** `3 packets`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** Asks all VMs to end, and kills the ones that do not within the time limit. */
function endingOf(remotes: readonly Remote[], later: (kill: () => void) => () => void) {
  let cancel: (() => void) | undefined;
  return {
    isBegun: () => cancel !== undefined,
    begin: () => {
      if (cancel !== undefined) return;
      cancel = later(() => {
        for (const remote of remotes) remote.kill();
      });
      for (const remote of remotes) remote.end();
    },
    over: () => cancel?.(),
  };
}

/** Returns the captures that began; the others were stopped before. */
async function allBegun(
  remotes: readonly Remote[],
  isEnding: () => boolean,
): Promise<readonly OpenCapture[]> {
  const all = await Promise.all(
    remotes.map(async ({ name, packets, ended }) => {
      const begun = await openCapture(name, packets);
      if (begun !== undefined || isEnding()) return begun;
      const { code, said } = await ended;
      if (said.includes(NO_TCPDUMP)) throw NoTcpdump({ name });
      throw CaptureRefused({ name, why: whyEnded(code, said) });
    }),
  );
  return all.filter((one) => one !== undefined);
}

const LAST_LINES = 3;

const whyEnded = (code: number, said: string): string =>
  said === ""
    ? `it ended with ${code}`
    : `it ended with ${code}: ${said.split("\n").slice(-LAST_LINES).join(" / ")}`;
