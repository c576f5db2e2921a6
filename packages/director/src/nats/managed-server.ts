import { mkdir } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { SERVER_NAME } from "@slipway/engine/agents/nats/names";
import { type AllowedAgent, natsUsers } from "@slipway/engine/agents/nats/users";
import { DAY_MS } from "@slipway/engine/pki/authority";
import { servedNames } from "@slipway/engine/pki/served-names";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import type { ServerTrust } from "./authorities.ts";
import { ServerProcess } from "./server-process.ts";

export interface ManagedServerOptions {
  readonly program: string;
  readonly dir: string;
  readonly host: string;
  readonly port: number;
  /** Further names by which it is called. */
  readonly names: readonly string[];
  /** Returns the authority that signs for the server, and those it trusts; called for each configuration. */
  readonly trust: () => ServerTrust;
  readonly clock: Clock;
  readonly warn: (line: string) => void;
}

const DAYS = 397;
const RENEW_BEFORE_MS = 30 * DAY_MS;

/** The NATS server of this Director: its certificate, its users and their permissions, its process. */
export class ManagedServer {
  readonly #options: ManagedServerOptions;
  readonly #process: ServerProcess;
  #certificateUntil = 0;
  #certifiedBy = "";
  #running = false;

  constructor(options: ManagedServerOptions) {
    this.#options = options;
    this.#process = new ServerProcess(options);
  }

  async start(agents: readonly AllowedAgent[]): Promise<void> {
    await mkdir(this.#options.dir, { recursive: true, mode: 0o700 });
    await this.allow(agents);
    await this.#process.start();
    this.#running = true;
  }

  /** Whole or not at all: a server that starts meanwhile reads the one or the other. */
  async allow(agents: readonly AllowedAgent[]): Promise<void> {
    await this.#certify();
    const { host, port } = this.#options;
    const config = {
      listen: `${host.includes(":") ? `[${host}]` : host}:${port}`,
      tls: {
        cert_file: this.#at("server.crt"),
        key_file: this.#at("server.key"),
        ca_file: this.#at("clients.crt"),
        verify_and_map: true,
        timeout: 5,
      },
      authorization: { users: natsUsers(agents) },
    };
    await writeFileAtomic(this.#process.configFile, `${JSON.stringify(config, null, 1)}\n`, 0o600);
    if (this.#running) this.#process.reload();
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  async #certify(): Promise<void> {
    const { trust, clock, host, names } = this.#options;
    const { authority, clientCa } = trust();
    await writeFileAtomic(this.#at("clients.crt"), clientCa, 0o600);
    const same = this.#certifiedBy === authority.ca;
    if (same && this.#certificateUntil - clock.now() > RENEW_BEFORE_MS) return;
    const addresses = Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).filter((one) => !one.scopeid).map((one) => one.address),
    );
    const issued = await authority.issue({
      subject: "bosh",
      commonName: SERVER_NAME,
      sans: servedNames({ host, names, addresses }),
      usage: "server",
      days: DAYS,
    });
    await writeFileAtomic(this.#at("server.key"), issued.privateKey, 0o600);
    await writeFileAtomic(this.#at("server.crt"), issued.certificate, 0o600);
    this.#certificateUntil = issued.until;
    this.#certifiedBy = authority.ca;
  }

  #at(name: string): string {
    return join(this.#options.dir, name);
  }
}
