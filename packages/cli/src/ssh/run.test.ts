import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { Child } from "@slipway/testkit/child";
import { expect, it } from "vitest";

it("rejects with the system's reason when no file descriptor is left for ssh, and the process goes on", async () => {
  const script = `
    import { closeSync, openSync } from "node:fs";
    import { runRemote } from "../pcap/run-remote.ts";
    import { runWithLines } from "./run.ts";
    const held = [];
    try { for (;;) held.push(openSync("/dev/null", "r")); } catch {}
    const run = runWithLines("true", [], { env: {}, stop: new AbortController().signal }, () => {});
    const remote = runRemote("vm", [], {});
    const errors = await Promise.all([run, remote.ended].map((over) => over.catch((error) => error.code)));
    for (const fd of held) closeSync(fd);
    console.log(errors.join(" "));`;
  const program = await bundle(
    { script, in: fileURLToPath(new URL(".", import.meta.url)) },
    { format: "esm" },
  );
  const child = new Child("sh", ["-c", 'ulimit -n 100 && exec "$0" "$@"', process.execPath, program]);
  expect(await child.line()).toBe("EMFILE EMFILE");
  await child.end();
});
