export function causeOf(output: string, env: Readonly<Record<string, string | undefined>>): string;
