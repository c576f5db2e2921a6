import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { CpiDidNotAnswer } from "./errors.ts";
import { callCpi } from "./exec-cpi.ts";

const CALL = { method: "info", arguments: [], context: { director_uuid: "d" } };
const REPLY = '{"result":null,"error":null,"log":""}';

/** Calls a CPI that is this text. */
async function callText(text: string, options: { name?: string; mode?: number; deadlineMs?: number } = {}) {
  const path = join(await tempDir(), options.name ?? "cpi");
  await writeFile(path, text);
  await chmod(path, options.mode ?? 0o755);
  return callCpi(
    { path, configFile: "/none", clock: systemClock, deadlineMs: options.deadlineMs ?? 240_000 },
    CALL,
  );
}

describe("a CPI executable is called as a Director does", () => {
  it("passes the request on stdin, the configuration as argument and nearly no environment", async () => {
    const reply = await callText(`#!/bin/sh
      read -r request
      printf '{"result":["%s","%s","%s"],"error":null,"log":""}' "$1" "$2" "$(printf %s "$request" | wc -c | tr -d ' ')"
    `);
    expect(reply.result).toEqual(["--configFile", "/none", String(JSON.stringify(CALL).length)]);
    const environment = await callText(`#!/bin/sh
      printf '{"result":"%s","error":null,"log":""}' "\${HOME-unset} $PATH"
    `);
    expect(environment.result).toBe("unset /usr/sbin:/usr/bin:/sbin:/bin");
  });

  it("runs a script of Node with this Node, executable or not", async () => {
    const text = `process.stdout.write(${JSON.stringify(REPLY)})`;
    expect(await callText(text, { name: "cpi.cjs", mode: 0o600 })).toEqual(JSON.parse(REPLY));
  });

  it("accepts a reply from a CPI that does not read its input", async () => {
    expect(await callText(`#!/bin/sh\nexec 0<&-\necho '${REPLY}'\n`)).toEqual(JSON.parse(REPLY));
  });
});

describe("a CPI that does not answer as it must differs from one that refuses:", () => {
  it.each([
    ["an exit code", "#!/bin/sh\necho 'no such luck' >&2\nexit 3\n", /exit code 3; stderr: no such luck/],
    ["an exit code after a reply", `#!/bin/sh\necho '${REPLY}'\nexit 1\n`, /exit code 1/],
    ["a reply without a log", `#!/bin/sh\necho '{"result":null,"error":null}'\n`, /reply.log/],
    ["an error that is a string", `#!/bin/sh\necho '{"result":null,"error":"no","log":""}'\n`, /reply.error/],
  ])("%s", async (_, text, words) => {
    const failed = await callText(text).catch((error: unknown) => error);
    expect(CpiDidNotAnswer.is(failed)).toBe(true);
    expect(String(failed)).toMatch(words);
  });

  it.each([
    ["nothing", "#!/bin/sh\n"],
    ["a log line before the reply", `#!/bin/sh\necho starting\necho '${REPLY}'\n`],
    ["two replies", `#!/bin/sh\necho '${REPLY}'\necho '${REPLY}'\n`],
  ])("%s on stdout", async (_, text) => {
    await expect(callText(text)).rejects.toThrow(/not acceptable JSON/);
  });

  it("no execute permission", async () => {
    await expect(callText(`#!/bin/sh\necho '${REPLY}'\n`, { mode: 0o644 })).rejects.toThrow(/cannot be run/);
  });

  it("silence until the deadline", async () => {
    await expect(callText("#!/bin/sh\nexec sleep 60\n", { deadlineMs: 100 })).rejects.toThrow(
      /did not finish within 0.1 s/,
    );
  });
});
