import type { Backoff } from "@slipway/kernel/backoff";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";

export interface RegistryClientOptions {
  /** `http://` is assumed; `http://name:password@host:port` carries percent-encoded credentials. */
  readonly endpoint: string;
  /** Taken instead of those in the endpoint. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** PEM of the authority to trust for https, instead of the system's. */
  readonly ca?: string | undefined;
  readonly backoff?: Backoff | undefined;
  readonly attemptTimeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An endpoint taken apart. */
export interface RegistryEndpoint {
  /** Without credentials, so that messages may say it. */
  readonly origin: string;
  readonly basePath: string;
  readonly authorization: string | undefined;
}
