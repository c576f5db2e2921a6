export function messageText<P>(error: {
  readonly code: string;
  readonly message: (params: P) => string;
}): string;
