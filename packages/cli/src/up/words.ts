import type { CpiName } from "../home/choice.ts";

/** What a user reads of a VM, by what it is. */
export interface Words {
  readonly one: string;
  readonly many: string;
  readonly title: string;
  /** What Ctrl-C does while `up` is in the foreground. */
  readonly interrupted: string;
  /** What the demo says when it is told to stop. */
  readonly stopping: string;
  /** What a killed Director has left, and what becomes of it. */
  readonly left: string;
}

export const WORDS: Readonly<Record<CpiName, Words>> = {
  local: {
    one: "sandbox",
    many: "sandboxes",
    title: "Sandboxes",
    interrupted: "Ctrl-C stops it and its sandboxes. State and disks are kept.",
    stopping: "Stopping the Director, its database and the sandboxes.",
    left: "Its database or sandboxes run on: `slipway up` takes them over, `slipway down` stops them.",
  },
  docker: {
    one: "container",
    many: "containers",
    title: "Containers",
    interrupted: "Ctrl-C stops it. Its containers run on. State and disks are kept.",
    stopping: "Stopping the Director and its database.",
    left: "Its database runs on: `slipway up` takes it over, `slipway down` stops it.",
  },
};

export const counted = (number: number, { one, many }: Words): string =>
  `${number} ${number === 1 ? one : many}`;
