// What VMs and disks live through in the machine, each step checked.
import { setTimeout as sleep } from "node:timers/promises";
import { interruptible } from "./losses.mjs";
import { DISK_HELPER, Steps } from "./steps.mjs";

const DOWN_MS = 300_000;

export async function story({ check, machine, cloud, stemcell: image, losses, random }) {
  const steps = new Steps({ machine, cloud });
  await check("the machine starts, its engine answers over TLS", async () => {
    await steps.start();
    const format = "engine {{.Server.Version}}, API {{.Server.APIVersion}}";
    return { note: await cloud.docker("version", "--format", format) };
  });
  await check("it has cgroup v2 by systemd, and AppArmor", async () => {
    const format = "cgroup {{.CgroupVersion}} {{.CgroupDriver}}, {{.KernelVersion}}, {{.SecurityOptions}}";
    const said = await cloud.docker("info", "--format", format);
    if (!/^cgroup 2 systemd.*name=apparmor/.test(said)) throw new Error(said);
    return { note: said };
  });
  await check("who has no certificate is refused", async () => {
    const said = await cloud.withoutCertificate();
    if (!/certificate required|bad certificate/.test(said)) throw new Error(said);
  });

  const made = async (asked) => ({ value: await asked });
  const newVm = async (n) => {
    const [cid] = await cloud.cpi("create_vm", ...cloud.vmArguments(n, stemcell));
    return { value: cid };
  };
  const stemcell = await check("create_stemcell", () => made(cloud.cpi("create_stemcell", image, {})));
  const vm = await check("create_vm", () => newVm(0));
  await check("its agent answers through a port of the machine", () => steps.agentAnswers(0));
  await check("it may open no block devices but loop devices", async () => {
    const [major, minor] = (await machine.run("cat /sys/class/block/nvme0n1/dev")).split(":");
    const node = "/dev/of-the-host";
    const script = `mknod ${node} b ${major} ${minor} && head -c 1 ${node} 2>&1; rm -f ${node}`;
    const said = await cloud.in(vm, script);
    if (!said.includes("not permitted")) throw new Error(`it read the machine's own disk: ${said}`);
  });

  let attachMs = 0;
  const disk = await check("create_disk, attach_disk, mounted by the agent, written to", async () => {
    const cid = await cloud.cpi("create_disk", 64, {}, vm);
    attachMs = await steps.mount(0, vm, cid);
    await steps.writeData(vm);
    return { value: cid, note: await steps.mounted(vm) };
  });
  const snapshot = await check("snapshot_disk while it is mounted", async () => {
    const cid = await cloud.cpi("snapshot_disk", disk, {});
    await steps.snapshotHolds(cid);
    return { value: cid };
  });
  await check("resize_disk while it is mounted: the file system follows", async () => {
    const before = await steps.sizeMib(vm);
    await cloud.cpi("resize_disk", disk, 128);
    const after = await steps.sizeMib(vm);
    if (!(before < 64 && after > 100 && after < 128)) throw new Error(`${before} MiB before, ${after} after`);
    await steps.holds(0, vm, disk);
    return { note: `${before} MiB, then ${after}` };
  });

  await check("an orderly restart: the machine goes down", () => machine.goDown(DOWN_MS));
  await check("it is up again, and its engine", () => steps.start());
  await check("the VM is back by itself with its disk and its data", async () => {
    await steps.agentAnswers(0);
    await steps.holds(0, vm, disk);
    // A disk that was still in use when the machine went off would have been recovered now.
    const seen = await machine.run("dmesg | grep -E 'EXT4-fs .*loop.*(recover|error)' || true");
    if (seen !== "") throw new Error(`it was not unmounted: ${seen}`);
  });

  const calls = interruptible({ cloud, steps, vm, disk, stemcell });
  for (const name of losses(Object.keys(calls))) await losePowerDuring(calls[name]);

  const other = await check("create_vm of a second VM", () => newVm(1));
  await check("the disk moves to it with its data", async () => {
    await steps.agentAnswers(1);
    await steps.unmount(0, vm, disk);
    await steps.mount(1, other, disk);
    await steps.holds(1, other, disk);
  });
  await check("the snapshot still has what it had", () => steps.snapshotHolds(snapshot));
  await check("all is deleted, and nothing is left", async () => {
    for (const cid of [vm, other]) await cloud.cpi("delete_vm", cid);
    await cloud.cpi("delete_snapshot", snapshot);
    await cloud.cpi("delete_disk", disk);
    await cloud.cpi("delete_stemcell", stemcell);
    await mustBeClean();
  });

  async function losePowerDuring({ length, ends = false, prepare, call, look }) {
    const before = await prepare?.();
    const [method] = call(before);
    const id = cloud.nextRequest();
    const safe = await check(
      `a loss of power, while it writes and ${ends ? "just after" : "during"} ${method}`,
      async () => {
        const writer = await steps.startWriting(vm);
        const ended = cloud.as(id, ...call(before)).catch((error) => {
          if (ends) throw error;
        });
        if (ends) await ended;
        const after = Math.round(random() * attachMs * length);
        await sleep(after);
        await machine.losePower();
        const value = writer.last();
        writer.end();
        await ended;
        return { value, note: `${after} ms after it ${ends ? "ended" : "began"}; ${value} lines were safe` };
      },
    );
    await check("it is up again, and its engine", () => steps.start());
    await check(
      "the VM is back by itself with its disk, its data, and every line that was safe",
      async () => {
        await steps.agentAnswers(0);
        await steps.holds(0, vm, disk);
        return { note: `${await steps.linesAfter(vm, safe)} lines` };
      },
    );
    await check(`the repeat of ${method} completes it`, async () => {
      await look(await cloud.as(id, ...call(before)), before);
    });
  }

  /** The disk helper, its volume and its image stay, as the docs say, and go the way they say. */
  async function mustBeClean() {
    const loops = await machine.run("losetup --list --noheadings --output NAME,BACK-FILE");
    if (loops !== "") throw new Error(`loop devices left: ${loops}`);
    await expect(["ps", "--all", "--format", "{{.Names}}"], [DISK_HELPER]);
    await cloud.docker("rm", "--force", DISK_HELPER);
    await expect(["volume", "ls", "--quiet"], ["slipway-disks"]);
    await cloud.docker("volume", "rm", "slipway-disks");
    await cloud.docker("network", "prune", "--force", "--filter", "label=slipway.kind=network");
    await expect(["network", "ls", "--format", "{{.Name}}"], ["bridge", "host", "none"]);
    await expect(["image", "ls", "--format", "{{.Repository}}"], ["slipway-keeper"]);
  }

  async function expect(command, wanted) {
    const found = (await cloud.docker(...command)).split("\n").toSorted();
    if (found.join() !== wanted.join()) throw new Error(`docker ${command[0]}: ${found.join(", ")}`);
  }
}
