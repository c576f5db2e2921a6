import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { AgentException } from "@slipway/testkit/agent-caller";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import { expect } from "vitest";
import { DeadlyCommands } from "./deadly-commands.ts";
import type { DiskShop, TestDisk } from "./test-disks.ts";
import { treeHash } from "./tree.ts";

/**
 * One VM, a full disk, an empty one, and a Director that moves the data from one to the other. When the agent dies, it
 * is started again and the Director repeats what it was not told the end of.
 */
export class KilledRound {
  readonly machine: AgentMachine;
  readonly commands: DeadlyCommands;
  readonly #shop: DiskShop;
  readonly #old: TestDisk;
  readonly #fresh: TestDisk;
  deaths = 0;
  #mounted = false;

  private constructor(
    machine: AgentMachine,
    commands: DeadlyCommands,
    shop: DiskShop,
    disks: [TestDisk, TestDisk],
  ) {
    this.machine = machine;
    this.commands = commands;
    this.#shop = shop;
    [this.#old, this.#fresh] = disks;
  }

  static async open(bundle: string, shop: DiskShop): Promise<KilledRound> {
    const machine = await AgentMachine.open({ bundle, mounts: true });
    // A loop device is known by the name of its file, on the whole machine.
    const own = systemRandom.hex(4);
    const old = await shop.filled(machine.dir, `disk-old-${own}`);
    const fresh = await shop.empty(machine.dir, `disk-new-${own}`);
    const round = new KilledRound(machine, await DeadlyCommands.in(machine), shop, [old, fresh]);
    await machine.started();
    return round;
  }

  /** Mounts the old disk, migrates to the new one, unmounts that; checks all the way. Resolves to the time it took. */
  async run(): Promise<number> {
    const [old, fresh] = [this.#old, this.#fresh];
    const begun = systemClock.monotonic();
    expect(await this.#step("mount_disk", old.cid, old.hint)).toEqual({});
    this.#mounted = true;
    expect(await this.#step("mount_disk", fresh.cid, fresh.hint)).toEqual({});
    expect(await this.#step("migrate_disk", old.cid, fresh.cid)).toEqual({});
    expect(await this.#step("list_disk")).toEqual([fresh.cid]);
    const ms = systemClock.monotonic() - begun;
    expect(this.#storeHash(), "the store is what the old disk was").toBe(this.#shop.hash);
    expect(await old.hash(), "the old disk is as it was").toBe(this.#shop.hash);
    this.#mounted = false;
    // An agent that starts again mounts the disk on record again, so a Director that lost it asks again from the unmount.
    if ((await this.#unmounted(fresh.cid)).length > 0) expect(await this.#unmounted(fresh.cid)).toEqual([]);
    expect(await fresh.hash(), "the new disk is whole by itself").toBe(this.#shop.hash);
    return ms;
  }

  /** Unmounts and resolves to what is listed then: nothing, unless the agent died in between. */
  async #unmounted(cid: string): Promise<readonly unknown[]> {
    const before = this.machine.agent;
    expect(await this.#step("unmount_disk", cid)).toMatchObject({ message: expect.any(String) });
    const listed = (await this.#step("list_disk")) as readonly unknown[];
    if (this.machine.agent === before) expect(listed).toEqual([]);
    return listed;
  }

  async #step(method: string, ...args: readonly unknown[]): Promise<unknown> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.machine.caller.value(method, ...args);
      } catch (error) {
        // An answer is an answer; only a connection that was lost means that the agent is gone.
        if (error instanceof AgentException || tries > 3) throw error;
        await this.#again();
      }
    }
  }

  /** The agent is gone: the next one must make sense of what it finds, before anybody repeats anything. */
  async #again(): Promise<void> {
    expect(await this.machine.agent?.end()).toBe("SIGKILL");
    this.deaths++;
    await this.commands.disarm();
    await this.machine.started();
    await this.machine.caller.pong();
    if (!this.#mounted) return;
    const mounted = await this.machine.caller.value("list_disk");
    const [old, fresh] = [this.#old.cid, this.#fresh.cid];
    expect([[old], [fresh], [fresh, old]]).toContainEqual((mounted as string[]).toSorted());
    expect(this.#storeHash(), "the store after the restart").toBe(this.#shop.hash);
  }

  #storeHash(): string {
    return treeHash(this.machine.sandbox?.path(this.machine.paths.store) ?? "");
  }

  async close(): Promise<void> {
    const { sandbox, paths } = this.machine;
    await this.machine.agent?.kill();
    for (const target of [paths.migrationTarget, paths.store])
      await sandbox?.run("umount", "--lazy", target).catch(() => undefined);
    for (const disk of [this.#old, this.#fresh]) await disk.remove().catch(() => undefined);
    await this.machine.close();
  }
}
