// Calls of the CPI that a loss of power interrupts, and what their repeat has to bring about.

/**
 * Each: what has to be there before, the call, and the look at what its repeat said, which leaves things as they were.
 * `length` is how long it takes, in times of attaching a disk; `ends`: the power is lost when it has ended.
 */
export function interruptible({ cloud, steps, vm, disk, stemcell }) {
  const mustHave = async (disks) => {
    const has = await cloud.cpi("get_disks", vm);
    if (has.toSorted().join() !== disks.toSorted().join()) throw new Error(`it has ${has.join(", ")}`);
  };
  // Without ports: an engine that loses power while it starts a container may keep its ports (moby/libnetwork#1790).
  const madeVm = async ([other]) => {
    await steps.agentAnswersInside(other);
    await cloud.cpi("delete_vm", other);
  };
  return {
    attach_disk: {
      length: 1,
      prepare: () => cloud.cpi("create_disk", 32, {}, vm),
      call: (second) => ["attach_disk", vm, second],
      look: async (_, second) => {
        await mustHave([disk, second]);
        await cloud.cpi("detach_disk", vm, second);
        await cloud.cpi("delete_disk", second);
      },
    },
    detach_disk: {
      length: 1,
      prepare: async () => {
        const second = await cloud.cpi("create_disk", 32, {}, vm);
        await cloud.cpi("attach_disk", vm, second);
        return second;
      },
      call: (second) => ["detach_disk", vm, second],
      look: async (_, second) => {
        await mustHave([disk]);
        await cloud.cpi("delete_disk", second);
      },
    },
    snapshot_disk: {
      length: 1,
      call: () => ["snapshot_disk", disk, {}],
      look: async (snapshot) => {
        await steps.snapshotHolds(snapshot);
        await cloud.cpi("delete_snapshot", snapshot);
      },
    },
    resize_disk: {
      length: 1,
      prepare: async () => (await steps.sizeMib(vm)) + 64,
      call: (size) => ["resize_disk", disk, size],
      look: async (_, size) => {
        const seen = await steps.sizeMib(vm);
        // Of a file system's size, ext4 keeps some for itself.
        if (seen < size * 0.8) throw new Error(`it should have ${size} MiB, and has ${seen}`);
      },
    },
    create_vm: {
      length: 3,
      call: () => ["create_vm", ...cloud.vmArguments(1, stemcell, {})],
      look: madeVm,
    },
    // It has just ended: what it made must not be only in the machine's memory.
    "create_vm-ended": {
      length: 0.2,
      ends: true,
      call: () => ["create_vm", ...cloud.vmArguments(1, stemcell, {})],
      look: madeVm,
    },
  };
}
