import { rubyFile, writeSnapshot } from "./ruby-module.ts";

// A part of the build: writes the snapshot of the installed Ruby to the file it is given.
await writeSnapshot({ ruby: rubyFile(import.meta.url), snapshot: process.argv[2] ?? "" });
