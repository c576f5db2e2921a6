import type { Clock } from "@slipway/kernel/clock";
import { networkName } from "@slipway/kernel/ip-address";

/** Wrong passwords for one name from one address, within one window. */
const MOST_GUESSES = 10;
const WINDOW_MS = 60_000;
/** Names of one address that are counted each; all further names are counted as one. */
const MOST_NAMES = 64;
/** Most failures that are kept over all addresses; the oldest addresses are forgotten first. */
const MOST_KEPT = 100_000;

/** A name and a password that a caller tries, as digests. */
export interface Guess {
  readonly name: string;
  readonly pair: string;
}

interface Address {
  readonly since: number;
  readonly guesses: Map<string, Set<string>>;
}

/**
 * Limits guesses of passwords by name and address. A name that has failed too often from an address is not judged from
 * there until the window ends, so that not even the right password shows; other addresses are not affected. The same wrong
 * password again is no further guess: a program with an old password does not lock out its neighbors.
 */
export class FailureLimit {
  readonly #clock: Clock;
  /** Oldest window first. */
  readonly #addresses = new Map<string, Address>();
  #kept = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Guesses that are remembered. */
  get size(): number {
    return this.#kept;
  }

  /** Milliseconds until credentials with this name are judged from this address; 0 if they are now. */
  wait({ name }: Guess, ip: string): number {
    const address = this.#current(networkName(ip));
    if (address === undefined) return 0;
    const failed = address.guesses.get(bucketOf(address, name))?.size ?? 0;
    return failed < MOST_GUESSES ? 0 : address.since + WINDOW_MS - this.#clock.monotonic();
  }

  failed({ name, pair }: Guess, ip: string): void {
    const network = networkName(ip);
    const address = this.#current(network) ?? this.#begin(network);
    const bucket = bucketOf(address, name);
    const failed = address.guesses.get(bucket) ?? new Set();
    address.guesses.set(bucket, failed);
    this.#kept -= failed.size;
    failed.add(pair);
    this.#kept += failed.size;
    if (this.#kept > MOST_KEPT) this.#forgetOldest();
  }

  #current(network: string): Address | undefined {
    const address = this.#addresses.get(network);
    if (address === undefined || this.#clock.monotonic() - address.since < WINDOW_MS) return address;
    this.#forget(network, address);
    return undefined;
  }

  #begin(network: string): Address {
    const address = { since: this.#clock.monotonic(), guesses: new Map() };
    this.#addresses.set(network, address);
    return address;
  }

  #forgetOldest(): void {
    const [oldest] = this.#addresses;
    if (oldest !== undefined) this.#forget(...oldest);
  }

  #forget(network: string, { guesses }: Address): void {
    for (const failed of guesses.values()) this.#kept -= failed.size;
    this.#addresses.delete(network);
  }
}

const bucketOf = ({ guesses }: Address, name: string): string =>
  guesses.has(name) || guesses.size < MOST_NAMES ? name : "";
