import { bundleScript, Child } from "@slipway/testkit/child";
import { expect, it } from "vitest";

it("rejects with the system's reason when no file descriptor is left for the program", async () => {
  const script = await bundleScript(
    `import { openSync, closeSync } from "node:fs";
     import { systemExec } from "./exec.ts";
     process.on("uncaughtException", (error) => console.log("uncaught", error.message));
     const held = [];
     try { for (;;) held.push(openSync("/dev/null", "r")); } catch {}
     const error = await systemExec("true", []).catch((thrown) => thrown);
     for (const fd of held) closeSync(fd);
     console.log(error.code, error.cause?.code, (await systemExec("true", [])).code);`,
  );
  const child = new Child("sh", ["-c", 'ulimit -n 100 && exec "$0" "$@"', process.execPath, script]);
  expect(await child.line()).toBe("KER-007 EMFILE 0");
  await child.end();
});
