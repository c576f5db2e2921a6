import { closingAll, ResourceScope } from "../owned/resource-scope.ts";
import { scratchDirectory } from "../owned/scratch-directory.ts";
import { Lab } from "./lab.ts";

const ROOM_BYTES = 2 ** 29;

async function labIn(owned: ResourceScope): Promise<Lab> {
  const dir = await scratchDirectory(owned, "sim", ROOM_BYTES);
  return await owned.open(
    () => Lab.open(dir),
    (lab) => lab.close(),
  );
}

/** Opens a lab in memory, if there is room. */
export async function openLab(): Promise<{ readonly lab: Lab; readonly close: () => Promise<void> }> {
  const owned = new ResourceScope();
  return { lab: await labIn(owned), close: () => owned.close() };
}

/** Works in a lab, and closes it afterwards or at a signal. */
export const withLab = <T>(work: (lab: Lab) => Promise<T>): Promise<T> =>
  closingAll(async (owned) => work(await labIn(owned)));
