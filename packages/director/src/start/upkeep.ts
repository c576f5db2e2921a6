import type { Introduces } from "@slipway/engine/agents/agent";
import { isRenewable } from "@slipway/engine/agents/agents";
import type { Clock } from "@slipway/kernel/clock";
import type { NatsAuthorities } from "../nats/rotation.ts";
import { behind } from "../store/nats-authorities.ts";
import type { Db } from "../store/schema.ts";
import type { Tasks } from "../tasks/task.ts";

export interface UpkeepOptions {
  readonly db: Db;
  readonly tasks: Tasks;
  readonly clock: Clock;
  readonly agents: Pick<Introduces, "signerEnds">;
  /** Undefined: no agent is reached over NATS. */
  readonly nats?: NatsAuthorities | undefined;
  /** Deletes what is too old or too much. */
  readonly retain?: (() => Promise<void>) | undefined;
  /** Sees that the API's certificate is valid, and replaces it in time. */
  readonly renewCertificate?: (() => Promise<void>) | undefined;
  readonly onError: (error: unknown) => void;
}

const EVERY_MS = 5 * 60_000;
const USER = "scheduler";

/** Does the upkeep of every few minutes: certificates, and what need not be kept any longer. */
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
    const { tasks } = this.#options;
    await this.#options.renewCertificate?.();
    // What cannot be deleted today does not keep certificates from being renewed.
    await this.#options.retain?.().catch(this.#options.onError);
    const rotate = this.#authorityDue();
    if (rotate || (await this.#certificateDue()) || (await this.#trustDue()))
      await tasks.enqueue({
        type: "renew_certificates",
        description: rotate ? "rotate the authority of NATS" : "renew certificates",
        user: USER,
        params: rotate ? { rotate_nats_ca: "when_due" } : {},
      });
  }

  /** Reports whether a new authority is due. One that takes over already is not requested again. */
  #authorityDue(): boolean {
    const own = this.#options.nats?.own;
    return own !== undefined && own.now().next === undefined && own.endsSoon();
  }

  /** Reports whether an agent on NATS is to trust other authorities than it does, or all do and the old one can go. */
  async #trustDue(): Promise<boolean> {
    const { db, nats } = this.#options;
    if (nats === undefined) return false;
    const { mark, next } = nats.now();
    const { agents, making } = await behind(db, mark);
    if (agents.some(({ active, ignored }) => active && !ignored)) return true;
    return next !== undefined && agents.length === 0 && making === 0;
  }

  async #certificateDue(): Promise<boolean> {
    const { db, clock, agents } = this.#options;
    const rows = await db
      .selectFrom("vms")
      .select(({ fn, eb }) => [
        eb("agent_url", "like", "nats:%").as("onNats"),
        fn.min("certificate_until").as("until"),
      ])
      .where("active", "=", true)
      .groupBy("onNats")
      .execute();
    return rows.some(
      ({ onNats, until }) =>
        until !== null &&
        isRenewable(until.getTime(), clock.now(), agents.signerEnds(onNats ? "nats" : "https")),
    );
  }
}
