import { X509Certificate } from "node:crypto";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { certificatesOf, type NatsTrust, trustMark } from "@slipway/engine/agents/nats/trust";
import { type Authority, DAY_MS, openAuthority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { type AuthoritiesOfNats, natsAuthorities } from "../store/nats-authorities.ts";
import type { Db } from "../store/schema.ts";
import { NatsAuthorityMissing } from "./errors.ts";
import type { Rotates } from "./rotation.ts";

export interface AuthoritiesOptions {
  /** Directory of the authorities, each in a directory of its own. */
  readonly dir: string;
  /** The Director's: the first one here, too. */
  readonly first: Authority;
  /** Authority that signs for agents if it is not the Director's, and all authorities the server is to trust; PEM. */
  readonly clients?: { readonly authority: Authority; readonly believed: string } | undefined;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
}

/** Certificates of agents last a year and are renewed 120 days before their end: none outlives its authority. */
const ROTATE_BEFORE_DAYS = 2 * 365;

/** Certificates that the Director's NATS server is to show and to trust. */
export interface ServerTrust {
  readonly authority: Authority;
  readonly clientCa: string;
}

/**
 * Keeps the authorities that sign on the bus of the Director's own server. While one authority takes over, the server and the
 * agents trust both, and the new one signs for agents. The server shows a certificate of the old one, which an agent that was
 * away still knows. The database keeps the progress: a Director that was killed goes on from there.
 */
export class OwnAuthorities implements Rotates {
  readonly #options: AuthoritiesOptions;
  /** Called when the server is to read its configuration again. */
  readonly #changed: () => Promise<void>;
  #state: AuthoritiesOfNats = { current: "" };
  #current: Authority;
  #next: Authority | undefined;

  constructor(options: AuthoritiesOptions, changed: () => Promise<void>) {
    this.#options = options;
    this.#changed = changed;
    this.#current = options.first;
  }

  async open(): Promise<void> {
    const state = await natsAuthorities(this.#options.db);
    const current = await this.#known(state.current);
    this.#next = state.next === undefined ? undefined : await this.#known(state.next);
    this.#current = current;
    this.#state = state;
  }

  get trust(): NatsTrust {
    const current = this.#current;
    const next = this.#next;
    return {
      authority: this.#options.clients?.authority ?? next ?? current,
      serverCa: joined(current.ca, next?.ca),
    };
  }

  get server(): ServerTrust {
    const clientCa = this.#options.clients?.believed ?? joined(this.#current.ca, this.#next?.ca);
    return { authority: this.#current, clientCa };
  }

  now(): { readonly mark: string; readonly next: string | undefined } {
    return { mark: trustMark(this.trust), next: this.#state.next };
  }

  endsSoon(): boolean {
    const left = Date.parse(new X509Certificate(this.#current.ca).validTo) - this.#options.clock.now();
    return left < ROTATE_BEFORE_DAYS * DAY_MS;
  }

  async prepare(id: string): Promise<void> {
    await openAuthority({ ...this.#options, dir: this.#dirOf(id) });
  }

  async takeUp(): Promise<void> {
    const before = this.now().mark;
    await this.open();
    if (this.now().mark !== before) await this.#changed();
  }

  /** Loads an authority. A lost one is not made again: agents trust it. */
  async #known(id: string): Promise<Authority> {
    if (id === "") return this.#options.first;
    const dir = this.#dirOf(id);
    try {
      await access(join(dir, "authority.pem"));
    } catch (cause) {
      throw NatsAuthorityMissing({ dir }, { cause });
    }
    return await openAuthority({ ...this.#options, dir });
  }

  #dirOf(id: string): string {
    return join(this.#options.dir, `nats-${id}`);
  }
}

const joined = (...pems: readonly (string | undefined)[]): string =>
  pems.flatMap((pem) => certificatesOf(pem ?? "").map((one) => `${one}\n`)).join("");
