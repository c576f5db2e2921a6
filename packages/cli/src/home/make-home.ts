import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Home } from "./home.ts";
import { homeUnusable } from "./unusable-home.ts";

/** Makes the directories that are not there. Those that are keep their modes. */
export async function makeHome(home: Home, uid: number): Promise<void> {
  // Root's database runs as another user: it may pass through, and see nothing.
  const mode = uid === 0 ? 0o711 : 0o700;
  try {
    const first = await mkdir(home.dir, { recursive: true, mode });
    // What was made on the way too, whatever the umask.
    for (let at = home.dir; first !== undefined && at.length >= first.length; at = dirname(at))
      await chmod(at, mode);
  } catch (cause) {
    throw await homeUnusable(home, cause);
  }
}
