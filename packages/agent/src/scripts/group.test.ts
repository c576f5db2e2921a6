import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { Child } from "@slipway/testkit/child";
import { expect, it } from "vitest";

it("rejects with the reason when no file descriptor is left for the script, and the agent goes on", async () => {
  const script = `
    import { closeSync, openSync } from "node:fs";
    import { systemClock } from "@slipway/kernel/clock";
    import { runGroup } from "./group.ts";
    const run = () =>
      runGroup({ program: "true", args: [], env: {}, clock: systemClock, signal: new AbortController().signal });
    const held = [];
    try { for (;;) held.push(openSync("/dev/null", "r")); } catch {}
    const error = await run().catch((thrown) => thrown);
    for (const fd of held) closeSync(fd);
    console.log(error.cause?.code, (await run()).code);`;
  const program = await bundle(
    { script, in: fileURLToPath(new URL(".", import.meta.url)) },
    { format: "esm" },
  );
  const child = new Child("sh", ["-c", 'ulimit -n 100 && exec "$0" "$@"', process.execPath, program]);
  expect(await child.line()).toBe("EMFILE 0");
  await child.end();
});
