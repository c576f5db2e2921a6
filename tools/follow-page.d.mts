export function missing(shown: readonly string[], said: readonly string[]): string | undefined;
