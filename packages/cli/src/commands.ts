import type { Command } from "./command.ts";

/** Every command. Help and shell completion are made from this table. */
export const COMMANDS: readonly Command[] = [];
