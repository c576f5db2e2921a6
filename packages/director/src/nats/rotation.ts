/** Authorities of NATS, as the task sees them that gives agents their certificates. */
export interface NatsAuthorities {
  /** What agents are to have. `next`: the authority that takes over from another, while one does. */
  now(): { readonly mark: string; readonly next: string | undefined };
  /** Undefined: the server is somebody else's, and so is its authority. */
  readonly own?: Rotates | undefined;
}

/** An authority can take over from another. The store says which (see `store/nats-authorities`). */
export interface Rotates {
  now(): { readonly mark: string; readonly next: string | undefined };
  /** Whether it is time for another one. */
  endsSoon(): boolean;
  /** Makes the authority of this id, once. */
  prepare(id: string): Promise<void>;
  /** Goes by what the store says: the server, the Director's own connection, what agents are told from now on. */
  takeUp(): Promise<void>;
}
