/** An error whose upstream number the CLI's users know. */
export class DirectorError extends Error {
  override readonly name = "DirectorError";
  readonly code: number;
  readonly status: number;

  constructor(
    code: number,
    message: string,
    options: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? 400;
  }
}
