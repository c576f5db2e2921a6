/** Source of access tokens for a Director. */
export interface TokenSource {
  /** For the `authorization` header. `fresh`: not one that was used before. */
  header(fresh: boolean): Promise<string>;
  close(): void;
}
