import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@slipway/testkit/eventually";
import { PROGRAMS } from "./requirements.ts";

/** Says which method is called, waits while that is held, fails if it is to, then is the CPI. */
const SCRIPT = `#!/bin/sh
dir=$(dirname "$0")
request=$(cat)
method=$(printf %s "$request" | sed -n '1s/^{"method":"\\([a-z_]*\\)".*/\\1/p')
echo "$method" >> "$dir/calls"
while [ -e "$dir/hold-$method" ]; do echo $$ > "$dir/held-$method"; sleep 0.05; done
if [ -e "$dir/fail-$method" ]; then cat "$dir/fail-$method"; exit 0; fi
printf %s "$request" | NODE CPI "$@"
`;

/** A CPI executable in front of ours: it notes the calls, and holds or refuses those the test wants held or refused. */
export class CpiGate {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async make(dir: string): Promise<CpiGate> {
    await mkdir(dir, { recursive: true });
    const gate = new CpiGate(dir);
    await writeFile(gate.path, SCRIPT.replace("NODE", process.execPath).replace("CPI", PROGRAMS.cpi));
    await chmod(gate.path, 0o755);
    return gate;
  }

  get path(): string {
    return join(this.#dir, "cpi");
  }

  /** Methods in the order they were called. */
  async calls(): Promise<readonly string[]> {
    const text = await readFile(join(this.#dir, "calls"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  /** A call that was let go may have left its mark late. */
  async hold(method: string): Promise<void> {
    await rm(this.#file("held", method), { force: true });
    await writeFile(this.#file("hold", method), "");
  }

  /** Until a call of it is waiting; the process that waits. */
  async held(method: string): Promise<number> {
    return await eventually(`a held ${method}`, async () => {
      const text = await readFile(this.#file("held", method), "utf8");
      return text.endsWith("\n") ? Number(text) : undefined;
    });
  }

  /** Waits until a held call has ended, even if its caller has given up. */
  async ended(call: number): Promise<void> {
    await eventually(`the end of ${call}`, async () => {
      const stat = await readFile(`/proc/${call}/stat`, "utf8").catch(() => ") X ");
      return /\) [ZX] /.test(stat) || undefined;
    });
  }

  async release(method: string): Promise<void> {
    for (const what of ["hold", "held"] as const) await rm(this.#file(what, method), { force: true });
  }

  /** Every call of it is answered with this error until it is mended. */
  fail(method: string, message: string): Promise<void> {
    const error = { type: "Bosh::Clouds::CloudError", message, ok_to_retry: false };
    return writeFile(this.#file("fail", method), JSON.stringify({ result: null, error, log: "" }));
  }

  mend(method: string): Promise<void> {
    return rm(this.#file("fail", method), { force: true });
  }

  #file(what: "hold" | "held" | "fail", method: string): string {
    return join(this.#dir, `${what}-${method}`);
  }
}
