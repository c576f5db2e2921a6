import { readFile } from "node:fs/promises";

export interface MountEntry {
  /** Device of the file system. */
  readonly device: string;
  /** Part of the file system that is seen. */
  readonly root: string;
  readonly target: string;
}

export const readMounts = (path: string): Promise<string> => readFile(path, "utf8");

/** The lines of a mountinfo. */
function mountsIn(table: string): MountEntry[] {
  return table.split("\n").flatMap((line) => {
    const [, , device, root, target] = line.split(" ");
    if (device === undefined || root === undefined || target === undefined) return [];
    return [{ device, root: plain(root), target: plain(target) }];
  });
}

/** Spaces and the like stand as octal numbers. */
const plain = (text: string): string =>
  text.replace(/(\\[0-7]{3})+/g, (octal) =>
    Buffer.from((octal.match(/[0-7]{3}/g) ?? []).map((digits) => Number.parseInt(digits, 8))).toString(
      "utf8",
    ),
  );

/** The last one is on top. */
export const mountAt = (table: string, target: string): MountEntry | undefined =>
  mountsIn(table).findLast((mount) => mount.target === target);

/** Returns other mounts of the same thing, or of a part of it. */
export const otherMountsOf = (table: string, { device, root }: MountEntry, known: string): MountEntry[] =>
  mountsIn(table).filter(
    (mount) =>
      mount.device === device &&
      mount.target !== known &&
      (mount.root === root || mount.root.startsWith(root === "/" ? "/" : `${root}/`)),
  );
