import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expectEqual, expectIncludes, expectTrue } from "../expect.ts";
import type { Check, CheckContext } from "./check.ts";

const file = (context: CheckContext, ...path: string[]) => join(context.baseDir ?? "", ...path);

const hintsOf = async (context: CheckContext) =>
  JSON.parse(await readFile(file(context, "bosh", "persistent_disk_hints.json"), "utf8")) as Record<
    string,
    unknown
  >;

const EMPTY_ISCSI = { InitiatorName: "", Username: "", Target: "", Password: "" };

/** Checks that need a look at the agent's files, or disks to play with. */
export const STATE_CHECKS: readonly Check[] = [
  {
    id: "AGENT-STATE-002",
    number: 11,
    name: "a first apply stores the specification and the instance files",
    needs: ["base-dir"],
    run: async (context) => {
      const spec = { deployment: "shop", name: "api", id: "6f2f", index: 0, networks: {} };
      expectEqual(await context.agent.value("apply", [spec]), "applied", "apply");
      const stored = JSON.parse(await readFile(file(context, "bosh", "spec.json"), "utf8")) as {
        name: string;
      };
      expectEqual(stored.name, "api", "spec.json");
      const { mode } = await stat(file(context, "instance", "id"));
      expectEqual(mode & 0o777, 0o644, "mode of instance/id");
    },
  },
  {
    id: "AGENT-DISK-001",
    number: 37,
    name: "hints are stored in upstream's format and removed again",
    needs: ["base-dir"],
    run: async (context) => {
      await context.agent.value("add_persistent_disk", ["vol-text", "/dev/sdf"]);
      await context.agent.value("add_persistent_disk", ["vol-object", { id: "6000c29a" }]);
      const hints = await hintsOf(context);
      const rest = { FileSystemType: "", MountOptions: null, Partitioner: "" };
      const text = {
        ID: "vol-text",
        DeviceID: "",
        VolumeID: "/dev/sdf",
        Lun: "",
        HostDeviceID: "",
        Path: "/dev/sdf",
        ISCSISettings: EMPTY_ISCSI,
      };
      expectEqual(hints["vol-text"], { ...text, ...rest }, "string hint");
      expectEqual((hints["vol-object"] as { DeviceID: string }).DeviceID, "6000c29a", "object hint");
      for (const cid of ["vol-text", "vol-object", "vol-object"])
        await context.agent.value("remove_persistent_disk", [cid]);
      expectEqual(await hintsOf(context), {}, "hints after removal");
    },
  },
  {
    id: "AGENT-DISK-002",
    number: 38,
    name: "a disk is mounted once and listed",
    needs: ["disks"],
    run: async ({ agent, disks }) => {
      const [disk] = disks ?? [];
      if (disk === undefined) return;
      await agent.value("add_persistent_disk", [disk.cid, disk.hint]);
      expectEqual(await agent.value("mount_disk", [disk.cid]), {}, "mount_disk");
      expectEqual(await agent.value("mount_disk", [disk.cid]), {}, "mount_disk again");
      expectEqual(await agent.value("list_disk"), [disk.cid], "list_disk");
      const direct = await agent.send("list_disk", [], 0);
      expectEqual(direct, { value: [disk.cid] }, "list_disk of protocol 0 answers at once");
    },
  },
  {
    id: "AGENT-DISK-004",
    number: 40,
    name: "a second disk goes to the migration target and takes the first one's place",
    needs: ["disks"],
    run: async ({ agent, disks }) => {
      const [old, fresh] = disks ?? [];
      if (old === undefined || fresh === undefined) return;
      await agent.value("add_persistent_disk", [fresh.cid, fresh.hint]);
      await agent.value("mount_disk", [fresh.cid]);
      expectEqual(await agent.value("migrate_disk", [old.cid, fresh.cid]), {}, "migrate_disk");
      expectEqual(await agent.value("list_disk"), [fresh.cid], "list_disk");
      await agent.value("remove_persistent_disk", [old.cid]);
    },
  },
  {
    id: "AGENT-DISK-007",
    number: 43,
    name: "unmounting twice says the second time that nothing was mounted",
    needs: ["disks"],
    run: async ({ agent, disks }) => {
      const fresh = disks?.[1];
      if (fresh === undefined) return;
      const first = (await agent.value("unmount_disk", [fresh.cid])) as { message: string };
      const second = (await agent.value("unmount_disk", [fresh.cid])) as { message: string };
      expectTrue(first.message.startsWith("Unmounted partition of"), first.message);
      expectIncludes(second.message, "is not mounted");
      await agent.value("remove_persistent_disk", [fresh.cid]);
    },
  },
];
