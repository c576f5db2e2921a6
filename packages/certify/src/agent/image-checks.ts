import { expectEqual } from "../expect.ts";
import { type Check, type CheckContext, given } from "./check.ts";

/** Has the agent mount the disk and let go of it again. */
async function mountedOnce({ agent, imageDisk }: CheckContext): Promise<void> {
  const { cid, hint } = given(imageDisk);
  await agent.value("add_persistent_disk", [cid, hint]);
  try {
    expectEqual(await agent.value("mount_disk", [cid]), {}, "mount_disk");
    expectEqual(await agent.value("list_disk"), [cid], "list_disk");
    await agent.value("unmount_disk", [cid]);
  } finally {
    await agent.value("remove_persistent_disk", [cid]);
  }
}

/** Checks of a disk that was formatted or enlarged outside the agent, while the settings ask for ext4. */
export const IMAGE_CHECKS: readonly Check[] = [
  {
    id: "AGENT-DISK-005",
    number: 41,
    name: "a disk that has a file system keeps it, whatever the settings ask for",
    needs: ["image-disk"],
    run: async (context) => {
      const act = given(context.control);
      await act("disk", "xfs");
      await mountedOnce(context);
      await act("disk", "kept");
    },
  },
  {
    id: "AGENT-DISK-006",
    number: 42,
    name: "the file system of an enlarged disk grows with it",
    needs: ["image-disk"],
    run: async (context) => {
      const act = given(context.control);
      await act("disk", "xfs");
      await mountedOnce(context);
      await act("disk", "enlarge");
      await mountedOnce(context);
      await act("disk", "grown");
      await act("disk", "kept");
    },
  },
];
