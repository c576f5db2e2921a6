import { needsRenewal } from "@slipway/engine/agents/agents";
import type { Clock } from "@slipway/kernel/clock";
import type { NatsAuthorities } from "../nats/rotation.ts";
import { listOrphanDisks } from "../store/disks.ts";
import { behind } from "../store/nats-authorities.ts";
import { listNetworks } from "../store/networks.ts";
import { listOrphanedVms } from "../store/orphaned-vms.ts";
import type { Db } from "../store/schema.ts";
import type { Tasks } from "../tasks/task.ts";

export interface UpkeepOptions {
  readonly db: Db;
  readonly tasks: Tasks;
  readonly clock: Clock;
  /** Orphaned disks are deleted at this age. */
  readonly days: number;
  /** Orphaned networks are deleted at this age. */
  readonly networkDays: number;
  /** Undefined: no agent is reached over NATS. */
  readonly nats?: NatsAuthorities | undefined;
  /** Removes logs whose time is over. */
  readonly expireLogs?: (() => Promise<void>) | undefined;
  /** Sees that the API's certificate is valid, and replaces it in time. */
  readonly renewCertificate?: (() => Promise<void>) | undefined;
  readonly onError: (error: unknown) => void;
}

const EVERY_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const USER = "scheduler";

/** What the Director does by itself: VMs that create-swap-delete left, disks and networks whose time as orphans is over. */
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
    const { db, tasks, clock, days, networkDays } = this.#options;
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
    const unused = (await listNetworks(db)).filter(
      ({ orphanedAt }) => orphanedAt !== null && orphanedAt < clock.now() - networkDays * DAY_MS,
    );
    if (unused.length > 0)
      await tasks.enqueue({
        type: "delete_orphan_networks",
        description: "clean up networks",
        user: USER,
        params: { names: unused.map(({ name }) => name) },
      });
    const rotate = this.#authorityDue();
    if (rotate || (await this.#certificateDue()) || (await this.#trustDue()))
      await tasks.enqueue({
        type: "renew_certificates",
        description: rotate ? "rotate the authority of NATS" : "renew certificates",
        user: USER,
        params: rotate ? { rotate_nats_ca: "when_due" } : {},
      });
  }

  /** One that takes over already is not asked for again. */
  #authorityDue(): boolean {
    const own = this.#options.nats?.own;
    return own !== undefined && own.now().next === undefined && own.endsSoon();
  }

  /** Somebody on NATS is to believe others than it does, or all do and the old authority can go. */
  async #trustDue(): Promise<boolean> {
    const { db, nats } = this.#options;
    if (nats === undefined) return false;
    const { mark, next } = nats.now();
    const { agents, making } = await behind(db, mark);
    if (agents.some(({ active, ignored }) => active && !ignored)) return true;
    return next !== undefined && agents.length === 0 && making === 0;
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
