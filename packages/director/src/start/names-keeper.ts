import type { Agents } from "@slipway/engine/agents/agent";
import type { Clock } from "@slipway/kernel/clock";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { type LocalDns, renewedDns } from "../operations/dns/records.ts";
import { tellBehind } from "../operations/dns/tell.ts";
import { latestDns } from "../store/dns.ts";
import type { Db } from "../store/schema.ts";

export interface NamesKeeperOptions {
  readonly db: Db;
  readonly agents: Agents;
  readonly dns: LocalDns;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Returns the settings of local DNS, with the defaults of upstream. */
export const localDnsOf = ({ local_dns: given }: DirectorConfig): LocalDns => ({
  enabled: given?.enabled ?? false,
  domain: given?.domain ?? "bosh",
  useDnsAddresses: given?.use_dns_addresses ?? false,
  includeIndex: given?.include_index ?? false,
});

/** Interval of upstream. */
const EVERY_MS = 10_000;
/** Rounds between checks of the records against the instances: every five minutes. Successful tasks renew them, too. */
const RENEW_EVERY = 30;

/** Tells agents of DNS records that did not take them when they were made. */
export class NamesKeeper {
  readonly #options: NamesKeeperOptions;
  readonly #stopped = new AbortController();
  #cancel = () => {};
  #looking = Promise.resolve();
  #rounds = 0;

  constructor(options: NamesKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel = this.#options.clock.after(EVERY_MS, () => {
      this.#looking = this.#look()
        .catch((error: unknown) => {
          if (!this.#stopped.signal.aborted) this.#options.onError(error);
        })
        .finally(() => {
          if (!this.#stopped.signal.aborted) this.start();
        });
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancel();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { db, agents, dns, clock } = this.#options;
    const latest = this.#rounds % RENEW_EVERY === 0 ? (await renewedDns(db, dns)).now : await latestDns(db);
    this.#rounds += 1;
    if (latest === undefined) return;
    await tellBehind(latest, {
      agents,
      db,
      clock,
      signal: this.#stopped.signal,
      write: (work) => work(db),
      // A silent agent is asked again and again: that is not worth a line each time.
      debug: () => undefined,
    });
  }
}
