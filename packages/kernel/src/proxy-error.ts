/** The proxy itself is the trouble, not who is behind it. `at`: it, without its password. */
export class ProxyError extends Error {
  /** Asking again does not help. */
  readonly lasting: boolean;

  constructor(at: string, why: string, options: { lasting?: boolean; cause?: unknown } = {}) {
    super(`the proxy ${at} ${why}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.lasting = options.lasting ?? false;
  }
}
