/** Authorities of NATS, as the task sees them that gives agents their certificates. */
export interface NatsAuthorities {
  /** Returns the trust that agents are to have. `next` is the authority that takes over, while one does. */
  now(): { readonly mark: string; readonly next: string | undefined };
  /** Undefined if the Director does not keep the server and its authority. */
  readonly own?: Rotates | undefined;
}

/** An authority can take over from another. The store says which (see `store/nats-authorities`). */
export interface Rotates {
  now(): { readonly mark: string; readonly next: string | undefined };
  /** Reports whether it is time for another authority. */
  endsSoon(): boolean;
  /** Makes the authority of this id, once. */
  prepare(id: string): Promise<void>;
  /** Applies the state of the store to the server, to the Director's own connection, and to what agents receive from now on. */
  takeUp(): Promise<void>;
}
