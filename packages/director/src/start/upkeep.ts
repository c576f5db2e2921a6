import { needsRenewal } from "@slipway/engine/agents/agents";
import type { Clock } from "@slipway/kernel/clock";
import { listOrphanDisks } from "../store/disks.ts";
import { listOrphanedVms } from "../store/orphaned-vms.ts";
import type { Db } from "../store/schema.ts";
import type { Tasks } from "../tasks/task.ts";

export interface UpkeepOptions {
  readonly db: Db;
  readonly tasks: Tasks;
  readonly clock: Clock;
  /** Orphaned disks are deleted at this age. */
  readonly days: number;
  /** Removes logs whose time is over. */
  readonly expireLogs?: (() => Promise<void>) | undefined;
  /** Sees that the API's certificate is valid, and replaces it in time. */
  readonly renewCertificate?: (() => Promise<void>) | undefined;
  readonly onError: (error: unknown) => void;
}

const EVERY_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const USER = "scheduler";

/** What the Director does by itself: VMs that create-swap-delete left, and disks whose time in the orphan list is over. */
export class Upkeep {
  readonly #options: UpkeepOptions;
  #cancel = () => {};
  #stopped = false;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel = this.#options.clock.after(EVERY_MS, () => {
      void this.#look()
        .catch(this.#options.onError)
        .finally(() => {
          if (!this.#stopped) this.start();
        });
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #look(): Promise<void> {
    const { db, tasks, clock, days } = this.#options;
    await this.#options.renewCertificate?.();
    await this.#options.expireLogs?.();
    if ((await listOrphanedVms(db)).length > 0)
      await tasks.enqueue({
        type: "delete_orphaned_vms",
        description: "delete orphaned vms",
        user: USER,
        params: {},
      });
    const old = await listOrphanDisks(db, clock.now() - days * DAY_MS);
    if (old.length > 0)
      await tasks.enqueue({
        type: "delete_orphan_disks",
        description: "delete orphan disks",
        user: USER,
        params: { disk_cids: old.map(({ cid }) => cid) },
      });
    if (await this.#certificateDue())
      await tasks.enqueue({
        type: "renew_certificates",
        description: "renew certificates",
        user: USER,
        params: {},
      });
  }

  async #certificateDue(): Promise<boolean> {
    const { db, clock } = this.#options;
    const { until } = await db
      .selectFrom("vms")
      .select(({ fn }) => fn.min("certificate_until").as("until"))
      .where("active", "=", true)
      .executeTakeFirstOrThrow();
    return until !== null && needsRenewal(until.getTime(), clock.now());
  }
}
